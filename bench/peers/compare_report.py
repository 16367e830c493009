"""Tables and plots from the JSON lines of compare.py."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Line = dict[str, Any]

COLOURS = ["#0067a5", "#c9510c", "#00805f", "#b0488c", "#6a51a3", "#8a6d00"]  # those of gflow's own charts


@dataclass(frozen=True)
class Figure:
    """A number over the rounds."""

    median: float
    least: float
    most: float
    rounds: int

    @staticmethod
    def of(values: list[float]) -> Figure:
        return Figure(statistics.median(values), min(values), max(values), len(values))

    def __str__(self) -> str:
        if self.rounds == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(self.least)}–{number(self.most)})"


def number(x: float) -> str:
    """Three digits or more."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}"


def figures(lines: list[Line], key: Callable[[Line], Any], value: str) -> dict[Any, dict[str, Figure]]:
    """key → contestant → figure, both in the order of the lines."""
    values: dict[Any, dict[str, list[float]]] = {}
    for line in lines:
        values.setdefault(key(line), {}).setdefault(line["contestant"], []).append(line[value])
    return {at: {name: Figure.of(x) for name, x in row.items()} for at, row in values.items()}


def markdown(header: list[str], rows: list[list[str]], left: int = 1) -> str:
    """A table whose first `left` columns are text."""
    ruler = ["---" if column < left else "---:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ruler, *rows]) + "\n"


def contestants_of(table: dict[Any, dict[str, Figure]]) -> list[str]:
    return list(dict.fromkeys(name for row in table.values() for name in row))


def train_step_tables(lines: list[Line]) -> str:
    text = ""
    step, speed = (figures(lines, lambda line: line["case"], key) for key in ("step_ms", "tokens_per_s"))
    memory = figures(lines, lambda line: line["case"], "peak_rss_mb")
    for case, row in step.items():
        ours = row.get("gflow")
        rows = [
            [
                name,
                str(figure),
                number(speed[case][name].median),
                f"{figure.median / ours.median:.2f}" if ours else "",
                number(memory[case][name].median),
                str(figure.rounds),
            ]
            for name, figure in row.items()
        ]
        header = ["", "step, ms (least–most)", "tokens/s", "gflow is faster by", "peak memory, MB", "rounds"]
        text += f"Training step, {case}\n\n{markdown(header, rows)}\n"
    return text


STEP = {
    "step_ms": "step, ms",
    "sum_ms": "sum of the parts, ms",
    "rest_ms": "rest, ms",
    "floor_ms": "sum of the floors, ms",
    "peak_gflop_per_s": "peak of multiply-adds, GFLOP/s",
    "memory_gb_per_s": "memory beyond all caches, GB/s",
}


def part_times(lines: list[Line]) -> dict[str, dict[str, Figure]]:
    """part → forward, backward and their floors → ms in a step."""
    ways = {"forward": "forward_ms", "backward": "backward_ms"}
    ways |= {f"{way} floor": f"{way}_floor_ms" for way in ("forward", "backward")}
    parts = [line for line in lines if line["part"] != "step"]
    names = dict.fromkeys(line["part"] for line in parts)
    return {
        name: {way: Figure.of([x[key] for x in parts if x["part"] == name]) for way, key in ways.items()}
        for name in names
    }


def step_parts_tables(lines: list[Line]) -> str:
    text = ""
    for case in dict.fromkeys(line["case"] for line in lines):
        chosen = [line for line in lines if line["case"] == case]
        times = part_times(chosen)
        exact = {line["part"]: line for line in chosen}
        rows = []
        for part, row in times.items():
            line = exact[part]
            rows.append([f"{part} × {line['count']}"])
            for way in ("forward", "backward"):
                rows[-1] += [number(line[f"{way}_gflop"]), number(line[f"{way}_mb"])]
                rows[-1] += [number(row[way].median), number(row[f"{way} floor"].median)]
        totals = {key: Figure.of([x[key] for x in chosen if x["part"] == "step"]) for key in STEP}
        header = ["", *["GFLOP", "MB", "forward, ms", "floor"], *["GFLOP", "MB", "backward, ms", "floor"]]
        text += f"Parts of a training step, {case}\n\n{markdown(header, rows)}\n"
        text += "".join(f"- {label}: {totals[key]}\n" for key, label in STEP.items()) + "\n"
    return text


def wide_table(table: dict[Any, dict[str, Figure]], corner: str) -> str:
    """One row for each key, one column for each contestant."""
    names = contestants_of(table)
    rows = [[f"{at:,}", *(str(row[name]) if name in row else "" for name in names)] for at, row in table.items()]
    return markdown([corner, *names], rows, left=0)


def mixing_layer_tables(lines: list[Line]) -> str:
    time = figures(lines, lambda line: line["length"], "ms")
    tokens = lines[0]["batch"] * lines[0]["length"]
    return f"Mixing layer, ms for {tokens:,} tokens, forward and backward\n\n{wide_table(time, 'length')}\n"


def decode_tables(lines: list[Line]) -> str:
    speed = figures(lines, lambda line: line["position"], "tokens_per_s")
    return f"Decoding, tokens/s from each position on\n\n{wide_table(speed, 'position')}\n"


def style_of(name: str, names: list[str]) -> dict[str, Any]:
    """Colour by model, line by program: gflow is solid and thick."""
    colour = COLOURS[0 if name.lower().startswith("grassmann") else 1]
    if "gflow" in name:
        return {"color": colour, "linewidth": 2.4, "marker": "o", "markersize": 4, "zorder": 3}
    others = [other for other in names if other.split(",")[0] == name.split(",")[0] and "gflow" not in other]
    dashes = ["--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (8, 3))]
    return {"color": colour, "linewidth": 1.3, "linestyle": dashes[others.index(name) % len(dashes)]}


def pyplot() -> Any:
    """Only where something is drawn: tables need no matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "gflow", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot

    return pyplot


def finish(figure: Any, axes: Any, path: Path) -> None:
    axes.grid(color="#e4e7eb")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    pyplot().close(figure)


def plot(table: dict[Any, dict[str, Figure]], path: Path, title: str, x: str, y: str, logarithmic: bool) -> None:
    names = contestants_of(table)
    figure, axes = pyplot().subplots(figsize=(8, 6), layout="constrained")
    for name in names:
        places = [at for at, row in table.items() if name in row]
        found = [table[at][name] for at in places]
        style = style_of(name, names)
        axes.plot(places, [one.median for one in found], label=name, **style)
        spread = [one.least for one in found], [one.most for one in found]
        axes.fill_between(places, *spread, color=style["color"], alpha=0.15, linewidth=0)
    if logarithmic:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", subs=[2, 5])
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_formatter("{x:,.0f}")
        axes.set_xticks(list(table), [f"{at:,}" for at in table], rotation=45)
        axes.xaxis.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
    axes.set(title=title, xlabel=x, ylabel=y)
    finish(figure, axes, path)


def plot_mixing_layer(lines: list[Line], out: Path) -> None:
    tokens = lines[0]["batch"] * lines[0]["length"]
    title = f"One mixing layer, forward and backward, {tokens:,} tokens"
    for value, label in [("ms", "ms"), ("tokens_per_s", "tokens/s")]:
        table = dict(sorted(figures(lines, lambda line: line["length"], value).items()))
        plot(table, out / f"mixing_layer_{value}.svg", title, "length of a sequence", label, logarithmic=True)


def plot_decode(lines: list[Line], out: Path) -> None:
    table = figures(lines, lambda line: line["position"] + line["window"] // 2, "tokens_per_s")
    plot(table, out / "decode.svg", "Decoding, one token at a time", "position", "tokens/s", logarithmic=False)


def plot_step_parts(lines: list[Line], out: Path) -> None:
    """Bars of time, forward and backward, with a mark where the floor is."""
    for case in dict.fromkeys(line["case"] for line in lines):
        times = part_times([line for line in lines if line["case"] == case])
        figure, axes = pyplot().subplots(figsize=(8, 0.5 * len(times) + 1.2), layout="constrained")
        for which, (way, colour) in enumerate([("forward", COLOURS[0]), ("backward", COLOURS[1])]):
            places = [place + 0.38 * which for place in range(len(times))]
            axes.barh(places, [row[way].median for row in times.values()], 0.36, color=colour, label=way, alpha=0.55)
            floors = [row[f"{way} floor"].median for row in times.values()]
            axes.barh(places, floors, 0.36, color=colour, label=f"{way}, floor")
        axes.set_yticks([place + 0.19 for place in range(len(times))], list(times))
        axes.invert_yaxis()
        axes.set(title=f"Parts of a training step, {case}", xlabel="ms in a step")
        finish(figure, axes, out / f"step_parts_{case.replace(', ', '_')}.svg")


def machine_text(machine: dict[str, Any]) -> str:
    def plain(value: Any) -> str:
        return " ".join(map(str, value)) if isinstance(value, list) else str(value)

    return "\n".join(f"- {name}: {plain(value)}" for name, value in machine.items() if value) + "\n"


def write_report(out: Path, parts: list[str]) -> None:
    """Prints the tables and draws the plots of the parts that `out` has lines of."""
    tables = {
        "train_step": train_step_tables,
        "mixing_layer": mixing_layer_tables,
        "decode": decode_tables,
        "step_parts": step_parts_tables,
    }
    plots = {"mixing_layer": plot_mixing_layer, "decode": plot_decode, "step_parts": plot_step_parts}
    for part in parts:
        path = out / f"{part}.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if not lines:
            continue
        print(machine_text(json.loads((out / f"{part}.machine.json").read_text())))
        print(tables[part](lines))
        if part in plots:
            plots[part](lines, out)

"""gflow and PyTorch side by side: runs the programs of bench/ and their peers in turn, and writes tables and plots.

    python bench/peers/compare.py --out runs/compare                          # everything: hours
    python bench/peers/compare.py --out runs/compare --only train_step --rounds 3
    python bench/peers/compare.py --out runs/compare --draw                   # again from the JSON, without a run

A round is one short run of each contestant after the other, so that what slows the machine down for a while slows down
all of them; a figure is the median over the rounds of the runs' own medians. Every run is pinned to the same cores.
--out gets for each part its JSON lines, what is known of the machine, and the plots as SVG.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from compare_report import write_report
from machine import ROOT, cores, describe

PARTS = ["train_step", "mixing_layer", "decode", "step_parts"]
MODELS = ["grassmann", "transformer"]
PRESETS = ["paper-6", "paper-12", "small"]
PINNED = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
# As PyTorch's tuning guide sets jemalloc up: memory is kept, so that no step asks the system for it again.
JEMALLOC = {
    "MALLOC_CONF": "oversize_threshold:1,background_thread:true,metadata_thp:auto,"
    "dirty_decay_ms:9000000000,muzzy_decay_ms:9000000000"
}
DEFAULT_VARIANTS = {
    "train_step": ["eager", "eager+jemalloc", "eager+tcmalloc", "compiled", "compiled+jemalloc"],
    "mixing_layer": ["eager+jemalloc", "compiled+jemalloc"],
    "decode": ["eager+jemalloc"],
}


@dataclass(frozen=True)
class Contestant:
    case: str  # what is compared: the contestants of one case stand in one table
    name: str  # the contestant's name there
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


VARIANTS = [mode + allocator for mode in ("eager", "compiled") for allocator in ("", "+jemalloc", "+tcmalloc")]


def preloaded(library: str) -> dict[str, str]:
    """The environment that puts an allocator under PyTorch. @throws SystemExit where it is not installed"""
    found = sorted(Path("/usr/lib").glob(f"**/{library}.so.*"))
    if not found:
        raise SystemExit(f"compare.py: {library}.so is not installed: install it, or leave it out of --variants")
    return {"LD_PRELOAD": str(found[0])}


def variant(name: str) -> tuple[list[str], dict[str, str]]:
    """The options and the environment of a variant of PyTorch: eager or compiled, with or without another allocator."""
    mode, _, allocator = name.partition("+")
    options = ["--compile"] if mode == "compiled" else []
    if allocator == "jemalloc":
        return options, PINNED | JEMALLOC | preloaded("libjemalloc")
    if allocator == "tcmalloc":
        return options, PINNED | preloaded("libtcmalloc_minimal")
    return options, {}


class Contest:
    """Makes the contestants of each part from the command line."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments

    def variants(self, part: str) -> list[str]:
        return self.arguments.variants or DEFAULT_VARIANTS[part]

    def gflow(self, program: str, case: str, options: list[str], name: str = "gflow") -> Contestant:
        threads = ["--threads", str(self.arguments.threads)]
        return Contestant(case, name, [str(self.arguments.build / "bin" / program), *options, *threads])

    def pytorch(self, program: str, case: str, options: list[str], which: str, name: str) -> Contestant:
        more, environment = variant(which)
        script = str(ROOT / "bench" / "peers" / f"{program}.py")
        threads = ["--threads", str(self.arguments.threads)]
        return Contestant(case, name, [self.arguments.python, script, *options, *threads, *more], environment)

    def offsets(self) -> list[str]:
        return [] if self.arguments.offsets == "preset" else ["--offsets", self.arguments.offsets]

    def train_step(self) -> list[Contestant]:
        all: list[Contestant] = []
        for preset in self.arguments.presets:
            for model in self.arguments.models:
                for precision in self.arguments.precision:
                    offsets = self.offsets() if model == "grassmann" else []
                    case = f"{preset}, {model}, {precision}"
                    options = ["--model", model, "--preset", preset, "--precision", precision, *offsets]
                    options += ["--steps", str(self.arguments.steps)]
                    all.append(self.gflow("train_step", case, options))
                    for formulation in ["factorised", "paper"] if model == "grassmann" else [""]:
                        for which in self.variants("train_step"):
                            name = f"PyTorch, {formulation + ', ' if formulation else ''}{which}"
                            chosen = ["--formulation", formulation] if formulation else []
                            all.append(self.pytorch("train_step", case, options + chosen, which, name))
        return all

    def mixing_layer(self) -> list[Contestant]:
        all: list[Contestant] = []
        for length in self.arguments.lengths:
            options = ["--lengths", str(length), "--tokens", str(self.arguments.tokens), "--repeats", "3"]
            options += ["--budget", str(self.arguments.budget)]
            case = str(length)
            grassmann, attention = ["--layer", "grassmann", *self.offsets()], ["--layer", "attention"]
            all.append(self.gflow("mixing_layer", case, grassmann + options, "Grassmann, gflow"))
            all.append(self.gflow("mixing_layer", case, attention + options, "attention, gflow"))
            for which in self.variants("mixing_layer"):
                for formulation in ["factorised", "paper"]:
                    name = f"Grassmann, PyTorch {formulation}, {which}"
                    chosen = [*grassmann, "--formulation", formulation, *options]
                    all.append(self.pytorch("mixing_layer", case, chosen, which, name))
                all.append(
                    self.pytorch("mixing_layer", case, attention + options, which, f"attention, PyTorch, {which}")
                )
        return all

    def decode(self) -> list[Contestant]:
        all: list[Contestant] = []
        for model in self.arguments.models:
            offsets = self.offsets() if model == "grassmann" else []
            options = ["--model", model, "--max-length", str(self.arguments.max_length), *offsets, "--repeats", "1"]
            all.append(self.gflow("decode", "paper-6", options, f"{model}, gflow"))
            for which in self.variants("decode"):
                if which.startswith("eager"):  # a compiled step would be compiled anew for every number of keys
                    all.append(self.pytorch("decode", "paper-6", options, which, f"{model}, PyTorch, {which}"))
        return all

    def step_parts(self) -> list[Contestant]:
        all: list[Contestant] = []
        for preset in self.arguments.presets:
            for model in self.arguments.models:
                options = ["--model", model, "--preset", preset, *(self.offsets() if model == "grassmann" else [])]
                options += ["--repeats", str(self.arguments.steps)]
                all.append(self.gflow("step_parts", f"{preset}, {model}", options))
        return all

    def run(self, contestant: Contestant) -> list[dict[str, object]]:
        """The JSON lines of one run. @throws RuntimeError with the last line of its errors"""
        arguments = self.arguments
        pin = ["taskset", "-c", ",".join(map(str, arguments.cpus))]
        threads = dict.fromkeys(["OMP_NUM_THREADS", "GFLOW_NUM_THREADS", "MKL_NUM_THREADS"], str(arguments.threads))
        done = subprocess.run(
            [*arguments.prefix, *pin, *contestant.command],
            env=os.environ | threads | contestant.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(" ".join(done.stderr.strip().splitlines()[-1:]) or f"exit status {done.returncode}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def rounds(self, contestants: list[Contestant]) -> Iterator[dict[str, object]]:
        """Round after round, one run of each. One that fails is left out from then on, and so is one that has had its
        patience of seconds."""
        spent = dict.fromkeys(((c.case, c.name) for c in contestants), 0.0)
        for number in range(self.arguments.rounds):
            for c in contestants:
                if spent[c.case, c.name] > self.arguments.patience:
                    continue
                begin = time.monotonic()
                try:
                    lines = self.run(c)
                except RuntimeError as problem:
                    print(f"  {c.case}: {c.name} left out: {problem}", file=sys.stderr)
                    spent[c.case, c.name] = float("inf")
                    continue
                spent[c.case, c.name] += time.monotonic() - begin
                print(f"  round {number + 1}, {c.case}: {c.name}, {time.monotonic() - begin:.1f} s", file=sys.stderr)
                for line in lines:
                    yield {"case": c.case, "contestant": c.name, "round": number + 1, **line}


def measure(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    machine = describe(arguments.build, arguments.python, arguments.cpus, arguments.threads)
    machine["command"] = shlex.join(["python", "bench/peers/compare.py", *sys.argv[1:]])
    contest = Contest(arguments)
    for part in arguments.only:
        (arguments.out / f"{part}.machine.json").write_text(json.dumps(machine, indent=2) + "\n")
        contestants = [c for c in getattr(contest, part)() if arguments.contestants.search(f"{c.case}: {c.name}")]
        print(f"{part}: {len(contestants)} contestants, {arguments.rounds} rounds", file=sys.stderr)
        with (arguments.out / f"{part}.jsonl").open("w") as file:
            for line in contest.rounds(contestants):
                print(json.dumps(line), file=file, flush=True)


def parse() -> argparse.Namespace:
    def numbers(text: str) -> list[int]:
        return [int(word) for word in text.split(",")]

    def words_of(known: list[str]) -> Callable[[str], list[str]]:
        def words(text: str) -> list[str]:
            for word in text.split(","):
                if word not in known:
                    raise argparse.ArgumentTypeError(f"takes {', '.join(known)}; got {word}")
            return text.split(",")

        return words

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder for results; a part that is run again replaces its old lines")
    add("--draw", action="store_true", help="measure nothing: tables and plots from what --out holds")
    add("--only", type=words_of(PARTS), default=PARTS, help=f"parts, by commas: {', '.join(PARTS)}")
    add("--rounds", type=int, default=7)
    add("--threads", type=int, default=len(cores()), help="default: one for each core")
    add("--cpus", type=numbers, help="processors to pin to, as 0,1; default: one of each of the first cores")
    add("--build", type=Path, default=ROOT / "build", help="build folder of gflow")
    add("--python", default=sys.executable, help="the Python that has PyTorch")
    add("--prefix", type=shlex.split, default=[], help="a command to put before each run, as 'nice -n -5'")
    add("--contestants", type=re.compile, default=re.compile(""), help="only those whose 'case: name' this finds")
    add("--variants", type=words_of(VARIANTS), help=f"of PyTorch, by commas: {', '.join(VARIANTS)}")
    add("--patience", type=float, default=600, help="seconds that one contestant of a case may take in all its rounds")
    add("--offsets", default="all", help="of the Grassmann layers: all, preset, or a list (default: all)")
    add("--models", type=words_of(MODELS), default=MODELS)
    add("--presets", type=words_of(PRESETS), default=PRESETS[:2], help="of the training step and its parts")
    add(
        "--precision",
        type=words_of(["fp32", "bf16"]),
        default=["fp32"],
        help="of the training step: fp32, bf16, or both by a comma",
    )
    add("--steps", type=int, default=3, help="training steps in a run, or calls of each part")
    add("--lengths", type=numbers, default=[64 << k for k in range(11)], help="of the mixing layer")
    add("--tokens", type=int, default=65536, help="of the mixing layer")
    add("--budget", type=float, default=20, help="seconds for a run of the mixing layer, once it is warm")
    add("--max-length", type=int, default=4096, help="positions to decode")
    arguments = parser.parse_args()
    arguments.cpus = arguments.cpus or cores()[: arguments.threads]
    return arguments


def main() -> None:
    arguments = parse()
    if not arguments.draw:
        measure(arguments)
    write_report(arguments.out, arguments.only)


if __name__ == "__main__":
    main()

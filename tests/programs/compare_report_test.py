"""The tables of bench/peers/compare.py: medians over the rounds, and nothing but the JSON is needed."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["GFLOW_SOURCE_DIR"]) / "bench" / "peers"))

from compare_report import Figure, mixing_layer_tables, number, step_parts_tables, train_step_tables  # noqa: E402

assert [number(x) for x in (12345.6, 99.94, 3.14159, -150)] == ["12,346", "99.9", "3.14", "-150"]
assert str(Figure.of([3.0, 1.0, 200.0])) == "3.00 (1.00–200)"
assert str(Figure.of([3.0])) == "3.00"

steps = [
    {"case": "small", "contestant": name, "step_ms": ms, "tokens_per_s": 1e3 / ms, "peak_rss_mb": 7.0}
    for name, times in {"gflow": [100, 110, 120], "PyTorch": [220, 440, 110]}.items()
    for ms in times
]
text = train_step_tables(steps)
assert "| gflow | 110 (100–120) | 9.09 | 1.00 | 7.00 | 3 |" in text, text
assert "| PyTorch | 220 (110–440) | 4.55 | 2.00 | 7.00 | 3 |" in text, text

layers = [
    {"contestant": name, "length": length, "batch": 2048 // length, "ms": float(length)}
    for length in (64, 1024)
    for name in ("ours", "theirs")
    if (name, length) != ("theirs", 1024)
]
text = mixing_layer_tables(layers)
assert "ms for 2,048 tokens" in text and "| 64 | 64.0 | 64.0 |\n| 1,024 | 1,024 |  |" in text, text

ways = {f"{way}_{what}": 2.0 for way in ("forward", "backward") for what in ("ms", "gflop", "mb", "floor_ms")}
keys = ["step_ms", "sum_ms", "rest_ms", "floor_ms", "peak_gflop_per_s", "memory_gb_per_s"]
part = {"case": "small", "part": "norm", "count": 9, **ways}
text = step_parts_tables([part, {"case": "small", "part": "step", **dict.fromkeys(keys, 5.0)}])
assert "| norm × 9 | 2.00 | 2.00 | 2.00 | 2.00 |" in text and "- rest, ms: 5.00" in text, text

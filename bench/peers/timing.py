"""What the peers that measure share; the counterpart of bench/timing.hpp."""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import torch


class Timing(NamedTuple):
    seconds: float  # the median
    repeats: int  # calls that it is the median of
    warm: bool  # whether a call that is not counted came before


def seconds_of(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def time_of(call: Callable[[], object], repeats: int, budget: float = 0) -> Timing:
    """The median time of `repeats` calls, after one that is not counted. With a budget in seconds as many as fit into
    it, one at least; where the first alone exceeds it, that one is the time."""
    first = seconds_of(call)
    if 0 < budget < first:
        return Timing(first, 1, False)
    if budget > 0:
        repeats = min(max(int(budget / max(first, 1e-9)) - 1, 1), repeats)
    return Timing(statistics.median(seconds_of(call) for _ in range(repeats)), repeats, True)


def autocast(precision: str) -> AbstractContextManager[object]:
    """bf16: matrix products in bfloat16, as PyTorch does it on a CPU; fp32: nothing."""
    return torch.autocast("cpu", torch.bfloat16) if precision == "bf16" else contextlib.nullcontext()


def whole_number(text: str) -> int:
    """For argparse: at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number

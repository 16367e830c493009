"""Time of one mixing layer alone in PyTorch, over the length: the peer of bench/mixing_layer, with the same command
line and the same JSON lines.

    python mixing_layer.py --layer grassmann|attention [--offsets all|1,2,4] [--precision fp32|bf16] --threads N
                           [--lengths 64,128,...] [--tokens N] [--repeats N] [--budget SECONDS]
                           [--formulation paper|factorised] [--compile]

A call is the forward and the gradients of the input and of all parameters. Attention is scaled_dot_product_attention.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from torch import nn

from models import CausalAttention, GrassmannMixing, Settings, preset
from timing import autocast, time_of, whole_number

LENGTHS = [64 << k for k in range(11)]


def layer_of(arguments: argparse.Namespace) -> tuple[nn.Module, Settings]:
    """The layer of the preset paper-6, with the offsets that are asked for."""
    model = "grassmann" if arguments.layer == "grassmann" else "transformer"
    config, _ = preset(model, "paper-6")
    if model == "transformer":
        settings = Settings(model=model, **config["settings"])
        return CausalAttention(settings), settings
    offsets = config["settings"]["offsets"]
    if arguments.offsets == "all":
        chosen = sorted({offset for layer in offsets for offset in layer})
    else:
        chosen = [int(offset) for offset in arguments.offsets.split(",")] if arguments.offsets else offsets[0]
    settings = Settings(model=model, **config["settings"] | {"offsets": [chosen] * config["settings"]["layers"]})
    return GrassmannMixing(settings, 0, arguments.formulation == "factorised"), settings


def forget_peak_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024


def measure(arguments: argparse.Namespace, layer: nn.Module, settings: Settings, length: int) -> dict[str, object]:
    forget_peak_memory()
    batch = arguments.tokens // length
    h = torch.randn(batch, length, settings.d_model, requires_grad=True)
    dy = torch.randn(h.shape)
    torch.compiler.reset()  # else the second length compiles for lengths in general
    forward = torch.compile(layer) if arguments.compile else layer

    def call() -> None:
        with autocast(arguments.precision):
            y = forward(h)
        y.backward(dy.to(y.dtype))
        h.grad = None
        layer.zero_grad()

    if arguments.compile:
        call()
    timing = time_of(call, arguments.repeats, arguments.budget)
    return {
        "program": "pytorch",
        "version": torch.__version__.split("+")[0],
        "layer": arguments.layer,
        **({"offsets": layer.offsets, "formulation": arguments.formulation} if arguments.layer == "grassmann" else {}),
        "compiled": arguments.compile,
        "precision": arguments.precision,
        "length": length,
        "batch": batch,
        "threads": arguments.threads,
        "repeats": timing.repeats,
        "warm": timing.warm or arguments.compile,
        "tokens_per_s": round(batch * length / timing.seconds, 1),
        "ms": round(1e3 * timing.seconds, 3),
        "peak_rss_mb": round(peak_memory_mb(), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layer", choices=["grassmann", "attention"], required=True)
    parser.add_argument("--offsets", default="", help="of grassmann: all, or as 1,2,4; default: the first layer's, 1")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--lengths", type=lambda text: [whole_number(x) for x in text.split(",")], default=LENGTHS)
    parser.add_argument("--tokens", type=whole_number, default=65536, help="the batch is tokens / length")
    parser.add_argument("--threads", type=whole_number, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=whole_number, default=7)
    parser.add_argument("--budget", type=float, default=0, help="seconds for a length: fewer repeats beyond them")
    parser.add_argument("--formulation", choices=["paper", "factorised"], default="paper")
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    if arguments.layer == "attention" and arguments.offsets:
        parser.error("--offsets belong to --layer grassmann")
    if max(arguments.lengths) > arguments.tokens:
        parser.error(f"--lengths must not exceed --tokens {arguments.tokens}; got {max(arguments.lengths)}")

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    layer, settings = layer_of(arguments)
    for length in arguments.lengths:
        print(json.dumps(measure(arguments, layer, settings, length)), flush=True)


if __name__ == "__main__":
    main()

"""Time of a training step in PyTorch: the peer of bench/train_step, with the same command line and the same JSON line.

    python train_step.py --model grassmann|transformer --preset paper-6|paper-12|small --precision fp32|bf16
                         --threads N --steps N [--offsets all|1,2,4] [--seq-len L] [--batch B]
                         [--vocab-size V] [--formulation paper|factorised] [--compile]

A step is forward, loss, backward, clipping by global norm and AdamW on random ids, dropout on. The median is printed.
"""

from __future__ import annotations

import argparse
import json
import resource

import torch
from torch import nn

from models import LanguageModel, from_config, loss_of, offsets_from_text, parameter_groups, preset
from timing import autocast, time_of, whole_number


def gflop_per_step(model: LanguageModel, tokens: int) -> float:
    """6 × tokens × weights of matrix products, and for attention 6 × tokens × layers × (L+1) × d."""
    s = model.settings
    per_token = model.matmul_weights()
    if s.model == "transformer":
        per_token += s.layers * (s.max_length + 1) * s.d_model
    return 6 * tokens * per_token / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=["grassmann", "transformer"], required=True)
    parser.add_argument("--preset", choices=["paper-6", "paper-12", "small"], default="paper-6")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=whole_number, default=torch.get_num_threads())
    parser.add_argument("--steps", type=whole_number, default=10)
    parser.add_argument("--offsets", default="", help="of grassmann: all, or as 1,2,4 or 1,2;4 for the layers")
    parser.add_argument("--seq-len", type=whole_number, help="default: that of the preset")
    parser.add_argument("--batch", type=whole_number, help="default: that of the preset")
    parser.add_argument("--vocab-size", type=whole_number, default=30522)
    parser.add_argument("--formulation", choices=["paper", "factorised"], default="paper")
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    if arguments.offsets and arguments.model == "transformer":
        parser.error("--offsets belong to --model grassmann")

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    config, batch = preset(arguments.model, arguments.preset, arguments.vocab_size)
    if arguments.seq_len:
        config["settings"]["max_length"] = arguments.seq_len
    if arguments.offsets:
        config["settings"]["offsets"] = offsets_from_text(arguments.offsets, config["settings"]["offsets"])
    batch = arguments.batch or batch
    model = from_config(config, arguments.formulation == "factorised").train()
    length = model.settings.max_length
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.01), lr=3e-4, fused=True)
    forward = torch.compile(model) if arguments.compile else model
    ids = torch.randint(model.settings.vocab_size, (batch, length + 1))

    def step() -> None:
        with autocast(arguments.precision):
            loss = loss_of(forward(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()

    step()  # and another that time_of does not count: the first two are slower
    seconds = time_of(step, arguments.steps).seconds
    result = {
        "program": "pytorch",
        "version": torch.__version__.split("+")[0],
        "model": arguments.model,
        "preset": arguments.preset,
        "offsets": model.settings.offsets if arguments.model == "grassmann" else None,
        "precision": arguments.precision,
        "threads": arguments.threads,
        "batch": batch,
        "seq_len": length,
        "formulation": arguments.formulation if arguments.model == "grassmann" else None,
        "compiled": arguments.compile,
        "steps": arguments.steps,
        "tokens_per_s": round(batch * length / seconds, 1),
        "step_ms": round(1e3 * seconds, 3),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "parameters": model.parameter_count(),
        "model_gflop_per_step": round(gflop_per_step(model, batch * length), 3),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()

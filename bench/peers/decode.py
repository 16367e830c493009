"""Speed of a decoder by position in PyTorch: the peer of bench/decode, with the same command line and the same JSON
lines.

    python decode.py --model grassmann|transformer [--preset paper-6|paper-12|small] [--offsets all|1,2,4] --threads N
                     [--max-length N] [--window N] [--repeats N] [--vocab-size V]

The Transformer keeps keys and values in tensors of the full length; the Grassmann model the reduced states that later
positions pair with, and computes one wedge a position.
"""

from __future__ import annotations

import argparse
import json
import statistics
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from models import (
    CausalAttention,
    GrassmannMixing,
    LanguageModel,
    from_config,
    offsets_from_text,
    preset,
    resolved,
    unit,
    wedge,
)
from timing import seconds_of, whole_number


class GrassmannStep:
    """One mixing layer, position by position. For unit planes and their mean, as in the presets."""

    def __init__(self, mixer: GrassmannMixing, max_length: int) -> None:
        if (mixer.normalize, mixer.aggregate, mixer.mixer_output) != ("unit", "mean", "none"):
            raise ValueError("the decoder knows the layer of the presets only")
        self.mixer = mixer
        self.states: list[Tensor] = []  # the last max(Δ)

    def __call__(self, h: Tensor) -> Tensor:
        mixer = self.mixer
        z = mixer.reduce(h).view(1, mixer.heads, mixer.rank)
        v = unit(z, (z != 0).any(-1, keepdim=True))
        partners = [self.states[-offset] for offset in mixer.offsets if offset <= len(self.states)]
        self.states = [*self.states, z][-max(mixer.offsets) :]
        g = mixer.plucker.bias.expand(1, 1, -1)
        if partners:
            u = torch.cat(partners)
            s = unit(u - (u * v).sum(-1, keepdim=True) * v, resolved(u, v.expand_as(u))).mean(0, keepdim=True)
            g = mixer.plucker(wedge(s, v).view(1, 1, -1))
        alpha = torch.sigmoid(mixer.gate(torch.cat([h, g], dim=-1)))
        return alpha * h + (1 - alpha) * g


class AttentionStep:
    """One attention layer, position by position."""

    def __init__(self, mixer: CausalAttention, max_length: int) -> None:
        self.mixer, self.seen = mixer, 0
        width = mixer.output.in_features // mixer.heads
        self.keys, self.values = torch.empty(2, 1, mixer.heads, max_length, width, dtype=mixer.output.weight.dtype)

    def __call__(self, h: Tensor) -> Tensor:
        q, k, v = self.mixer.qkv(h).view(1, 1, 3, self.mixer.heads, -1).permute(2, 0, 3, 1, 4)
        self.keys[:, :, self.seen : self.seen + 1] = k
        self.values[:, :, self.seen : self.seen + 1] = v
        self.seen += 1
        mixed = F.scaled_dot_product_attention(q, self.keys[:, :, : self.seen], self.values[:, :, : self.seen])
        return self.mixer.output(mixed.transpose(1, 2).reshape(h.shape))


class Decoder:
    """Takes one token at a time; gives the logits, [vocabulary], of the one after it."""

    def __init__(self, model: LanguageModel) -> None:
        make = GrassmannStep if model.settings.model == "grassmann" else AttentionStep
        self.model, self.position = model, 0
        self.mixers = [make(block.mixer, model.settings.max_length) for block in model.blocks]

    def step(self, token: int) -> Tensor:
        model = self.model
        h = (model.token_embedding.weight[token] + model.position_embedding.weight[self.position]).view(1, 1, -1)
        for block, mixer in zip(model.blocks, self.mixers, strict=True):
            h = block(h, mixer)
        if model.final_norm is not None:
            h = model.final_norm(h)
        self.position += 1
        return F.linear(h, (model.token_embedding if model.head is None else model.head).weight).flatten()


def decode(decoder: Decoder, ids: list[int], window: int) -> None:
    for token in ids[decoder.position : decoder.position + window]:
        decoder.step(token)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", choices=["grassmann", "transformer"], required=True)
    parser.add_argument("--preset", choices=["paper-6", "paper-12", "small"], default="paper-6")
    parser.add_argument("--offsets", default="", help="of grassmann: all, or as 1,2,4 or 1,2;4 for the layers")
    parser.add_argument("--max-length", type=whole_number, default=4096)
    parser.add_argument("--window", type=whole_number, default=256)
    parser.add_argument("--threads", type=whole_number, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=whole_number, default=3)
    parser.add_argument("--vocab-size", type=whole_number, default=30522)
    arguments = parser.parse_args()
    if arguments.max_length % arguments.window:
        parser.error(f"--max-length must be a multiple of --window {arguments.window}; got {arguments.max_length}")
    if arguments.offsets and arguments.model == "transformer":
        parser.error("--offsets belong to --model grassmann")

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    config, _ = preset(arguments.model, arguments.preset, arguments.vocab_size)
    config["settings"]["max_length"] = arguments.max_length
    if arguments.offsets:
        config["settings"]["offsets"] = offsets_from_text(arguments.offsets, config["settings"]["offsets"])
    model = from_config(config, factorised=True).eval()
    ids = torch.randint(arguments.vocab_size, (arguments.max_length,)).tolist()
    decode(Decoder(model), ids, arguments.window)  # warms up

    windows = arguments.max_length // arguments.window
    times: list[list[float]] = []
    for _ in range(arguments.repeats):
        go_on = partial(decode, Decoder(model), ids, arguments.window)
        times.append([seconds_of(go_on) for _ in range(windows)])
    for which, window in enumerate(zip(*times, strict=True)):
        seconds = statistics.median(window)
        result = {
            "program": "pytorch",
            "version": torch.__version__.split("+")[0],
            "model": arguments.model,
            "preset": arguments.preset,
            "offsets": model.settings.offsets if arguments.model == "grassmann" else None,
            "vocab_size": arguments.vocab_size,
            "threads": arguments.threads,
            "repeats": arguments.repeats,
            "position": which * arguments.window,
            "window": arguments.window,
            "tokens_per_s": round(arguments.window / seconds, 1),
            "ms_per_token": round(1e3 * seconds / arguments.window, 4),
        }
        print(json.dumps(result))


if __name__ == "__main__":
    main()

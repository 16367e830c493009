"""The cases of ops.safetensors: inputs, value, a random cotangent and the gradients of every op, in float64."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models import IGNORE_INDEX, resolved, shifted


def rounded(x: Tensor) -> Tensor:
    """The nearest numbers that float32 holds, in float64."""
    return x.float().double()


def blend(a: Tensor, h: Tensor, g: Tensor) -> Tensor:
    """σ(a)⊙h + (1−σ(a))⊙g."""
    alpha = torch.sigmoid(a)
    return alpha * h + (1 - alpha) * g


def causal_attention(q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
    """softmax(q kᵀ/√n + mask) v for each head; q, k, v: [batch, L, d], heads contiguous in d."""
    split = [x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v)]
    length, n = q.shape[1], q.shape[2] // heads
    mask = torch.full((length, length), -torch.inf, dtype=q.dtype).triu(1)
    weights = torch.softmax(split[0] @ split[1].mT / n**0.5 + mask, dim=-1)
    return (weights @ split[2]).transpose(1, 2).flatten(-2)


def attention(qkv: Tensor, lengths: list[int], heads: int) -> Tensor:
    """softmax(q kᵀ/√n) v for each head, within each of the sequences that lie end to end; qkv: [tokens, 3 d]."""
    outs = []
    for rows in qkv.split(lengths):
        q, k, v = (x.unflatten(-1, (heads, -1)).transpose(0, 1) for x in rows.chunk(3, -1))
        outs.append(F.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(-2))
    return torch.cat(outs)


def plucker_mix(z: Tensor, w: Tensor, weights: Tensor, offsets: list[int], heads: int, normalize: str) -> Tensor:
    """Σ_Δ weights[…, Δ] · W p̂_Δ, pair by pair.

    z: [batch, L, heads·r], w: [d, heads·r(r−1)/2], weights: [batch, L, m] → [batch, L, d]
    """
    z = z.unflatten(-1, (heads, -1))
    rank = z.shape[-1]
    out = torch.zeros((), dtype=z.dtype)
    for k, offset in enumerate(offsets):
        u = shifted(z, offset)
        p = torch.stack(
            [u[..., i] * z[..., j] - u[..., j] * z[..., i] for i in range(rank) for j in range(i + 1, rank)], -1
        )
        if normalize == "unit":
            keep = resolved(u, z)
            p = torch.where(keep, p / torch.where(keep, p.square().sum(-1, keepdim=True), 1).sqrt(), 0)
        out = out + weights[..., k, None] * (p.flatten(-2) @ w.mT)
    return out


def op_cases(generator: torch.Generator) -> dict[str, tuple[Callable[..., Tensor], list[Tensor], dict[str, Any]]]:
    """Name → function, inputs, and its arguments as the metadata tells them."""

    def normal(*shape: int) -> Tensor:
        return rounded(torch.randn(shape, generator=generator, dtype=torch.float64))

    def positive(*shape: int) -> Tensor:
        return rounded(0.25 + 2 * torch.rand(shape, generator=generator, dtype=torch.float64))

    x = (2, 3, 4)
    ids = torch.tensor([[1, 4, 1, 0], [4, 4, 2, 1]])
    masked = normal(3, 5)
    masked[0, 1] = masked[1, 3] = masked[1, 4] = -torch.inf
    z = normal(2, 7, 8)
    z[0, 3] = z[0, 2]  # one pair that is not resolved, in both heads
    offsets = [1, 2, 4, 4]
    valid = torch.arange(7)[:, None] >= torch.tensor(offsets)
    mean = (valid.double() / valid.sum(-1, keepdim=True).clamp(min=1)).expand(2, 7, 4).clone()  # exact, not rounded
    weighted = rounded(torch.rand((2, 7, 4), generator=generator, dtype=torch.float64) * valid)
    mix = {"offsets": offsets, "heads": 2, "normalize": "unit"}
    pairs = {"offsets": [1, 3], "heads": 1, "normalize": "none"}
    steps = torch.tensor([1, 3])
    pair_weights = (torch.arange(7)[:, None] >= steps).double().expand(2, 7, 2).clone()

    return {
        "add": (torch.add, [normal(*x), normal(3, 1)], {}),
        "sub": (torch.sub, [normal(*x), normal(3, 1)], {}),
        "mul": (torch.mul, [normal(*x), normal(3, 1)], {}),
        "div": (torch.div, [normal(*x), positive(3, 1)], {}),
        "add_left": (torch.add, [normal(4), normal(*x)], {}),
        "sub_left": (torch.sub, [normal(3, 1), normal(*x)], {}),
        "mul_outer": (torch.mul, [normal(3, 1), normal(1, 4)], {}),
        "div_left": (torch.div, [normal(3, 1), positive(*x)], {}),
        "neg": (torch.neg, [normal(*x)], {}),
        "matmul": (torch.matmul, [normal(3, 4), normal(4, 5)], {}),
        "matmul_batched": (torch.matmul, [normal(2, 3, 4), normal(2, 4, 5)], {}),
        "matmul_tn": (lambda a, b: a.mT @ b, [normal(4, 3), normal(4, 5)], {"transpose_a": True, "transpose_b": False}),
        "matmul_nt": (lambda a, b: a @ b.mT, [normal(3, 4), normal(5, 4)], {"transpose_a": False, "transpose_b": True}),
        "matmul_tt": (
            lambda a, b: a.mT @ b.mT,
            [normal(4, 3), normal(5, 4)],
            {"transpose_a": True, "transpose_b": True},
        ),
        "matmul_batched_nt": (
            lambda a, b: a @ b.mT,
            [normal(2, 3, 4), normal(2, 5, 4)],
            {"transpose_a": False, "transpose_b": True},
        ),
        "linear": (F.linear, [normal(2, 3, 4), normal(5, 4), normal(5)], {}),
        "sum_all": (torch.sum, [normal(*x)], {}),
        "sum_axis": (lambda a: a.sum(1), [normal(*x)], {"axis": 1, "keepdim": False}),
        "sum_keepdim": (lambda a: a.sum(1, keepdim=True), [normal(*x)], {"axis": 1, "keepdim": True}),
        "mean_all": (torch.mean, [normal(*x)], {}),
        "mean_axis": (lambda a: a.mean(1), [normal(*x)], {"axis": 1, "keepdim": False}),
        "mean_keepdim": (lambda a: a.mean(-1, keepdim=True), [normal(*x)], {"axis": -1, "keepdim": True}),
        "max_all": (torch.max, [normal(*x)], {}),
        "max_axis": (lambda a: a.amax(1), [normal(*x)], {"axis": 1, "keepdim": False}),
        "max_keepdim": (lambda a: a.amax(-1, keepdim=True), [normal(*x)], {"axis": -1, "keepdim": True}),
        "exp": (torch.exp, [normal(*x)], {}),
        "log": (torch.log, [positive(*x)], {}),
        "sqrt": (torch.sqrt, [positive(*x)], {}),
        "tanh": (torch.tanh, [normal(*x)], {}),
        "sigmoid": (torch.sigmoid, [normal(*x)], {}),
        "relu": (torch.relu, [normal(*x)], {}),
        "gelu": (F.gelu, [2 * normal(*x)], {"approximate": "none"}),
        "gelu_tanh": (lambda a: F.gelu(a, approximate="tanh"), [2 * normal(*x)], {"approximate": "tanh"}),
        "softmax": (lambda a: a.softmax(-1), [normal(*x)], {"axis": -1}),
        "softmax_masked": (lambda a: a.softmax(-1), [masked], {"axis": -1}),
        "log_softmax": (lambda a: a.log_softmax(-1), [normal(*x)], {"axis": -1}),
        "layer_norm": (
            lambda a, weight, bias: F.layer_norm(a, (8,), weight, bias, eps=1e-5),
            [normal(2, 3, 8), normal(8), normal(8)],
            {"inputs": ["x", "weight", "bias"], "eps": 1e-5},
        ),
        "embedding": (lambda w, i: F.embedding(i, w), [normal(5, 3), ids], {"inputs": ["weight", "ids"]}),
        "cross_entropy": (
            lambda a, t: F.cross_entropy(a, t, ignore_index=IGNORE_INDEX),
            [normal(6, 5), torch.tensor([0, 4, IGNORE_INDEX, 2, 2, IGNORE_INDEX])],
            {"inputs": ["logits", "targets"], "ignore_index": IGNORE_INDEX},
        ),
        "causal_attention": (
            lambda q, k, v: causal_attention(q, k, v, heads=2),
            [normal(2, 5, 8), normal(2, 5, 8), normal(2, 5, 8)],
            {"inputs": ["q", "k", "v"], "heads": 2},
        ),
        "plucker_mix": (
            lambda a, w, k: plucker_mix(a, w, k, **mix),
            [z, normal(5, 12), mean],
            {"inputs": ["z", "weight", "offset_weights"], "aggregate": "mean"} | mix,
        ),
        "plucker_mix_weighted": (
            lambda a, w, k: plucker_mix(a, w, k, **mix),
            [normal(2, 7, 8), normal(5, 12), weighted],
            {"inputs": ["z", "weight", "offset_weights"]} | mix,
        ),
        "plucker_mix_none": (
            lambda a, w, k: plucker_mix(a, w, k, **pairs),
            [normal(2, 7, 4), normal(5, 6), pair_weights],
            {"inputs": ["z", "weight", "offset_weights"], "aggregate": "sum"} | pairs,
        ),
        "blend": (blend, [normal(*x), normal(*x), normal(*x)], {"inputs": ["gate_logits", "h", "g"]}),
        "concat": (lambda a, b: torch.cat([a, b], 1), [normal(2, 3, 4), normal(2, 2, 4)], {"axis": 1}),
        "transpose": (lambda a: a.transpose(1, 2), [normal(*x)], {"axes": [1, 2]}),
        "where": (
            lambda c, a, b: torch.where(c != 0, a, b),
            [(normal(*x) > 0).to(torch.uint8), normal(*x), normal(*x)],
            {"inputs": ["condition", "a", "b"]},
        ),
        "clamp": (lambda a: a.clamp(-0.5, 0.75), [normal(*x)], {"min": -0.5, "max": 0.75}),
        "slice": (lambda a: a[:, 1:3], [normal(2, 4, 3)], {"axis": 1, "begin": 1, "end": 3}),
        "slice_leading": (lambda a: a[1:3], [normal(4, 2, 3)], {"axis": 0, "begin": 1, "end": 3}),
        "select": (lambda a: a.select(1, 2), [normal(2, 4, 3)], {"axis": 1, "index": 2}),
        "index_select": (
            lambda a, i: a.index_select(1, i),
            [normal(2, 4, 3), torch.tensor([3, 0, 3])],
            {"inputs": ["x", "ids"], "axis": 1},
        ),
        "reshape": (lambda a: a.reshape(4, 6), [normal(*x)], {"shape": [4, 6]}),
        "attention": (  # drawn apart, so that the cases above keep their numbers
            lambda x: attention(x, [5, 1, 3], heads=2),
            [rounded(torch.randn(9, 24, generator=torch.Generator().manual_seed(21), dtype=torch.float64))],
            {"inputs": ["qkv"], "lengths": [5, 1, 3], "heads": 2},
        ),
    }


def op_tensors(generator: torch.Generator) -> tuple[dict[str, Tensor], dict[str, str]]:
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    for op, (function, inputs, arguments) in op_cases(generator).items():
        leaves = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
        out = function(*leaves)
        cotangent = rounded(torch.randn(out.shape, generator=generator, dtype=torch.float64))
        out.backward(cotangent)
        tensors |= {f"{op}/in{i}": x for i, x in enumerate(inputs)}
        tensors |= {f"{op}/out": out.detach(), f"{op}/dout": cotangent}
        tensors |= {f"{op}/din{i}": x.grad for i, x in enumerate(leaves) if x.is_floating_point()}
        metadata[op] = json.dumps(arguments)
    assert not any(x.isnan().any() for x in tensors.values())
    return {name: x.contiguous().clone() for name, x in tensors.items()}, metadata

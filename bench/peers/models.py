"""TransformerLM and GrassmannLM in plain PyTorch: the yardstick for gflow.

Nothing here comes from gflow but the names of the parameters and the keys of config.json. The Grassmann layer follows
the order of operations of arXiv 2512.19428 (a Plücker vector per pair, normalised, projected, averaged);
`factorised=True` computes the same function with one wedge and one projection per token, for comparisons of speed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

RESOLUTION = 1e-4  # a pair spans a plane only if the sine of its angle is above this
IGNORE_INDEX = -100


@dataclasses.dataclass(frozen=True)
class Settings:
    """What config.json holds under "settings"; the defaults are those of gflow."""

    model: str
    vocab_size: int
    max_length: int = 128
    d_model: int = 256
    layers: int = 6
    d_ff: int = 1024
    dropout: float = 0.1
    embedding_dropout: float | None = None  # None: as dropout
    norm: str = "post"
    tie_embedding: bool = True
    final_norm: bool = True
    init_std: float = 0.02
    heads: int | None = None  # None: 1 for grassmann, 4 for transformer
    attention_dropout: float = 0.0
    rank: int = 32
    offsets: Sequence[Sequence[int]] = ((1,), (2,), (4,), (8,), (12,), (16,))
    aggregate: str = "mean"
    normalize: str = "unit"
    gate_bias: float = 0.0
    mixer_output: str = "none"
    offset_weights: str = "uniform"

    def __post_init__(self) -> None:
        choices = {
            "model": ("grassmann", "transformer"),
            "norm": ("post", "pre"),
            "aggregate": ("mean", "sum"),
            "normalize": ("unit", "none"),
            "mixer_output": ("none", "linear", "mlp"),
            "offset_weights": ("uniform", "learned", "token"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        if self.heads is None:
            object.__setattr__(self, "heads", 1 if self.model == "grassmann" else 4)
        if self.model == "grassmann":
            if len(self.offsets) != self.layers:
                raise ValueError(
                    f"offsets must hold one list per layer; got {len(self.offsets)} for {self.layers} layers"
                )
            if any(not layer or min(layer) < 1 for layer in self.offsets):
                raise ValueError("every layer needs offsets, all at least 1")
        elif self.d_model % self.heads:
            raise ValueError(f"heads must divide d_model; got heads={self.heads}, d_model={self.d_model}")


def preset(model: str, name: str, vocab_size: int = 30522, **changes: Any) -> tuple[dict[str, Any], int]:
    """The configuration of a preset and its batch size."""
    paper: dict[str, Any] = {"d_model": 256, "d_ff": 1024, "rank": 32}
    presets: dict[str, tuple[dict[str, Any], int]] = {
        "paper-6": (paper | {"max_length": 128, "layers": 6, "offsets": [[1], [2], [4], [8], [12], [16]]}, 32),
        "paper-12": (
            paper
            | {"max_length": 256, "layers": 12, "offsets": [[k] for k in (1, 1, 2, 2, 4, 4, 8, 8, 12, 12, 16, 16)]},
            16,
        ),
        "small": (
            {"d_model": 128, "d_ff": 512, "rank": 16, "max_length": 128, "layers": 4, "offsets": [[1], [2], [4], [8]]},
            16,
        ),
    }
    settings, batch = presets[name]
    if model == "transformer":
        settings = {key: value for key, value in settings.items() if key not in ("rank", "offsets")}
    return {"model": model, "settings": {"vocab_size": vocab_size, **settings, **changes}}, batch


def offsets_from_text(text: str, presets: list[list[int]]) -> list[list[int]]:
    """all: every offset of the preset in each layer; 1,2,4: one for each layer; 1,2;4: a list for each."""
    if text == "all":
        return [sorted({offset for layer in presets for offset in layer})] * len(presets)
    separator = ";" if ";" in text else ","
    return [[int(offset) for offset in layer.split(",")] for layer in text.strip(";").split(separator)]


def wedge(a: Tensor, b: Tensor) -> Tensor:
    """The 2×2 minors a_i b_j − a_j b_i, i<j in lexicographic order.  [..., r] × [..., r] → [..., r(r−1)/2]."""
    r = a.shape[-1]
    i, j = torch.triu_indices(r, r, 1, device=a.device)
    outer = a[..., :, None] * b[..., None, :]
    return (outer - outer.transpose(-1, -2)).flatten(-2).index_select(-1, i * r + j)  # gathering each factor is slower


def shifted(z: Tensor, offset: int) -> Tensor:
    """z[t − offset] at t, zero where there is none.  z: [batch, L, heads, r]."""
    offset = min(offset, z.shape[1])
    return F.pad(z[:, : z.shape[1] - offset], (0, 0, 0, 0, offset, 0))


@torch.no_grad()
def resolved(u: Tensor, v: Tensor) -> Tensor:
    """Where u and v are not zero and not parallel to within RESOLUTION.  [..., r] → bool [..., 1]."""
    length_u, length_v = u.norm(dim=-1, keepdim=True), v.norm(dim=-1, keepdim=True)
    v_hat = v / torch.where(length_v > 0, length_v, 1)
    y = u - (u * v_hat).sum(-1, keepdim=True) * v_hat
    return ~((y.norm(dim=-1, keepdim=True) <= RESOLUTION * length_u) | (length_v == 0))


def unit(x: Tensor, where: Tensor) -> Tensor:
    """x/|x| where asked, else zero with zero gradient."""
    square = torch.where(where, x.square().sum(-1, keepdim=True), 1)
    return torch.where(where, x / square.sqrt(), 0)


class GrassmannMixing(nn.Module):
    """h, [batch, L, d] → α⊙h + (1−α)⊙g, with g projected from the planes that t spans with earlier positions."""

    def __init__(self, s: Settings, layer: int, factorised: bool) -> None:
        super().__init__()
        self.heads, self.rank, self.offsets = s.heads, s.rank, list(s.offsets[layer])
        self.aggregate, self.normalize, self.mixer_output = s.aggregate, s.normalize, s.mixer_output
        self.factorised = factorised
        self.reduce = nn.Linear(s.d_model, s.heads * s.rank)
        self.plucker = nn.Linear(s.heads * math.comb(s.rank, 2), s.d_model)
        self.gate = nn.Linear(2 * s.d_model, s.d_model)
        self.output = nn.Linear(s.d_model, s.d_model) if s.mixer_output != "none" else None
        self.offset_logits = nn.Parameter(torch.zeros(len(self.offsets))) if s.offset_weights == "learned" else None
        self.offset_head = nn.Linear(s.d_model, len(self.offsets)) if s.offset_weights == "token" else None

    def forward(self, h: Tensor) -> Tensor:
        with torch.autocast(h.device.type, enabled=False):  # the states stay float32 in bfloat16 mode
            z = self.reduce(h.to(self.reduce.weight.dtype)).unflatten(-1, (self.heads, self.rank))
        weights = self.weights_of_offsets(h)
        g = (self.project_once if self.factorised else self.project_each)(z, weights) + self.plucker.bias
        if self.mixer_output == "mlp":
            g = self.output(F.gelu(g))
        alpha = torch.sigmoid(self.gate(torch.cat([h, g], dim=-1)))
        mixed = alpha * h + (1 - alpha) * g
        return self.output(mixed) if self.mixer_output == "linear" else mixed

    def weights_of_offsets(self, h: Tensor) -> Tensor:
        """[batch or 1, L, offsets]; zero where t − Δ < 0, whatever the states."""
        position = torch.arange(h.shape[1], device=h.device)
        valid = position[:, None] >= torch.tensor(self.offsets, device=h.device)
        if self.offset_logits is None and self.offset_head is None:
            count = valid.sum(-1, keepdim=True).clamp(min=1) if self.aggregate == "mean" else 1
            return (valid.to(self.reduce.weight.dtype) / count)[None]
        scores = self.offset_logits.expand(1, *valid.shape) if self.offset_head is None else self.offset_head(h)
        scores = scores.masked_fill(~valid & valid.any(-1, keepdim=True), -torch.inf)
        return scores.softmax(-1) * valid

    def project_each(self, z: Tensor, weights: Tensor) -> Tensor:
        """The paper: every pair's minors, normalised, projected, then averaged."""
        g = torch.zeros((), dtype=z.dtype, device=z.device)
        for k, offset in enumerate(self.offsets):
            u = shifted(z, offset)
            p = wedge(u, z)
            if self.normalize == "unit":
                p = unit(p, resolved(u, z))
            g = g + weights[..., k, None] * F.linear(p.flatten(-2), self.plucker.weight)
        return g

    def project_once(self, z: Tensor, weights: Tensor) -> Tensor:
        """The same function: the wedge is bilinear, so the partners are summed before it."""
        v = unit(z, (z != 0).any(-1, keepdim=True)) if self.normalize == "unit" else z
        s = torch.zeros_like(z)
        for k, offset in enumerate(self.offsets):
            u = shifted(z, offset)
            if self.normalize == "unit":
                u = unit(u - (u * v).sum(-1, keepdim=True) * v, resolved(u, z))
            s = s + weights[..., k, None, None] * u
        return F.linear(wedge(s, v).flatten(-2), self.plucker.weight)


class CausalAttention(nn.Module):
    """Multi-head causal self-attention, [batch, L, d] → [batch, L, d]."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.heads, self.dropout = s.heads, s.attention_dropout
        self.qkv = nn.Linear(s.d_model, 3 * s.d_model)
        self.output = nn.Linear(s.d_model, s.d_model)

    def forward(self, h: Tensor) -> Tensor:
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in self.qkv(h).chunk(3, dim=-1))
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
        return self.output(mixed.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.up = nn.Linear(s.d_model, s.d_ff)
        self.down = nn.Linear(s.d_ff, s.d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    def __init__(self, s: Settings, layer: int, factorised: bool) -> None:
        super().__init__()
        self.norm = s.norm
        self.mixer_adds = s.model == "transformer"  # the gate is the skip path of the post-norm Grassmann block
        self.mixer = GrassmannMixing(s, layer, factorised) if s.model == "grassmann" else CausalAttention(s)
        self.mixer_norm = nn.LayerNorm(s.d_model)
        self.feed_forward = FeedForward(s)
        self.feed_forward_norm = nn.LayerNorm(s.d_model)
        self.dropout = nn.Dropout(s.dropout)

    def forward(self, h: Tensor, mix: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """With `mix` in the place of the mixer, for decoding."""
        mix = mix or self.mixer
        if self.norm == "pre":
            h = h + self.dropout(mix(self.mixer_norm(h)))
            return h + self.dropout(self.feed_forward(self.feed_forward_norm(h)))
        if self.mixer_adds:
            h = self.mixer_norm(h + self.dropout(mix(h)))
        else:
            h = self.dropout(self.mixer_norm(mix(h)))
        return self.feed_forward_norm(h + self.dropout(self.feed_forward(h)))


class LanguageModel(nn.Module):
    """ids [batch, L] → logits [batch, L, vocabulary]."""

    def __init__(self, s: Settings, factorised: bool = False) -> None:
        super().__init__()
        self.settings = s
        self.token_embedding = nn.Embedding(s.vocab_size, s.d_model)
        self.position_embedding = nn.Embedding(s.max_length, s.d_model)
        self.blocks = nn.ModuleList(Block(s, layer, factorised) for layer in range(s.layers))
        self.final_norm = nn.LayerNorm(s.d_model) if s.final_norm else None
        self.head = None if s.tie_embedding else nn.Linear(s.d_model, s.vocab_size, bias=False)
        self.dropout = nn.Dropout(s.dropout if s.embedding_dropout is None else s.embedding_dropout)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=s.init_std)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        for block in self.blocks:
            if s.model == "grassmann":
                nn.init.constant_(block.mixer.gate.bias, s.gate_bias)

    def forward(self, ids: Tensor) -> Tensor:
        h = self.dropout(self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]])
        for block in self.blocks:
            h = block(h)
        if self.final_norm is not None:
            h = self.final_norm(h)
        return F.linear(h, (self.token_embedding if self.head is None else self.head).weight)

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())

    def matmul_weights(self) -> int:
        """Weights of matrix products, the tied head included."""
        linear = sum(m.weight.numel() for m in self.modules() if isinstance(m, nn.Linear))
        return linear + (self.token_embedding.weight.numel() if self.head is None else 0)


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the targets that count."""
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORE_INDEX)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Decay for matrices only: no biases, LayerNorm, embeddings."""
    decay: list[Tensor] = []
    rest: list[Tensor] = []
    for name, parameter in model.named_parameters():
        (decay if parameter.ndim >= 2 and "embedding" not in name else rest).append(parameter)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]


def from_config(config: dict[str, Any], factorised: bool = False) -> LanguageModel:
    """The model that a config.json describes. A setting it does not know is an error: it could change the function."""
    known = {field.name for field in dataclasses.fields(Settings)} - {"model"}
    unknown = sorted(set(config["settings"]) - known)
    if unknown:
        raise ValueError(f"settings not known to the peer: {', '.join(unknown)}")
    return LanguageModel(Settings(model=config["model"], **config["settings"]), factorised)


def load_safetensors(model: nn.Module, path: Path | str) -> None:
    """Weights by name, all of them and no others."""
    model.load_state_dict(load_file(path), strict=True)

"""Checks of the peers themselves: run it, it prints one line a claim and fails on the first that does not hold."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from decode import Decoder
from models import GrassmannMixing, LanguageModel, Settings, from_config, loss_of, preset

VARIANTS: dict[str, dict[str, Any]] = {
    "one offset per layer": {"offsets": [[1], [2], [4]]},
    "heads, repeated offsets": {"heads": 2, "offsets": [[1], [2, 3], [1, 2, 4, 4]]},
    "offset beyond the text": {"offsets": [[1], [50], [3, 40]]},
    "sum, no normalisation": {"aggregate": "sum", "normalize": "none", "gate_bias": 1.0, "offsets": [[1, 2]] * 3},
    "sum, unit": {"aggregate": "sum", "offsets": [[1, 2, 8, 8]] * 3},
    "learned weights, linear": {"offset_weights": "learned", "mixer_output": "linear", "offsets": [[2, 1, 5]] * 3},
    "token weights, mlp, pre-norm": {
        "offset_weights": "token",
        "mixer_output": "mlp",
        "norm": "pre",
        "tie_embedding": False,
        "final_norm": False,
        "offsets": [[1, 2, 3], [3], [1, 4]],
    },
}


def small(model: str, factorised: bool = False, **changes: Any) -> LanguageModel:
    """A small float64 model with weights large enough that everything matters."""
    settings = {"vocab_size": 61, "max_length": 12, "d_model": 16, "layers": 3, "d_ff": 32, "dropout": 0.0}
    settings |= {"rank": 4, "offsets": [[1], [2], [4]]} if model == "grassmann" else {"heads": 2}
    torch.manual_seed(7)
    built = from_config({"model": model, "settings": settings | changes}, factorised).double()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return built


def random_ids(shape: tuple[int, ...] = (3, 12), high: int = 61) -> Tensor:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(3))


def check_parameter_counts() -> str:
    paper_12_short = {"max_length": 128}
    expected = [
        (12_585_472, "transformer", "paper-6", {}),
        (17_324_032, "transformer", "paper-12", paper_12_short),
        (17_356_800, "transformer", "paper-12", {}),
        (12_607_168, "grassmann", "paper-6", {}),
        (17_367_424, "grassmann", "paper-12", paper_12_short),
        (17_400_192, "grassmann", "paper-12", {}),
    ]
    for extra in ("linear", "mlp"):
        expected += [
            (13_001_920, "grassmann", "paper-6", {"mixer_output": extra}),
            (18_156_928, "grassmann", "paper-12", {"mixer_output": extra} | paper_12_short),
            (18_189_696, "grassmann", "paper-12", {"mixer_output": extra}),
        ]
    for count, model, name, changes in expected:
        with torch.device("meta"):
            got = from_config(preset(model, name, **changes)[0]).parameter_count()
        assert got == count, f"{model} {name} {changes}: {got:,} parameters, expected {count:,}"
    return f"{len(expected)} counts, to the digit"


def by_hand(mixing: GrassmannMixing, h: Tensor) -> Tensor:
    """The mixer as written in the paper, one position, offset, head and minor at a time.  h: [L, d]."""
    z = [mixing.reduce(row).view(mixing.heads, mixing.rank) for row in h]
    rows = []
    for t, row in enumerate(h):
        valid = [k for k, offset in enumerate(mixing.offsets) if t - offset >= 0]
        if mixing.offset_logits is not None and valid:
            weights = mixing.offset_logits[valid].softmax(0)
        elif mixing.offset_head is not None and valid:
            weights = mixing.offset_head(row)[valid].softmax(0)
        else:
            weights = torch.full((len(valid),), 1.0 if mixing.aggregate == "sum" else 1 / max(len(valid), 1))
        g = mixing.plucker.bias
        for weight, k in zip(weights, valid, strict=True):
            features = []
            for u, v in zip(z[t - mixing.offsets[k]], z[t], strict=True):
                p = torch.stack([u[i] * v[j] - u[j] * v[i] for i, j in itertools.combinations(range(mixing.rank), 2)])
                if mixing.normalize == "unit":
                    sine = p.norm() / (u.norm() * v.norm())
                    p = p / p.norm() if sine > 1e-4 else torch.zeros_like(p)
                features.append(p)
            g = g + weight * (mixing.plucker.weight @ torch.cat(features))
        if mixing.mixer_output == "mlp":
            g = mixing.output(0.5 * g * (1 + torch.erf(g / 2**0.5)))
        alpha = 1 / (1 + torch.exp(-mixing.gate(torch.cat([row, g]))))
        mixed = alpha * row + (1 - alpha) * g
        rows.append(mixing.output(mixed) if mixing.mixer_output == "linear" else mixed)
    return torch.stack(rows)


def check_mixing_by_hand() -> str:
    worst = 0.0
    h = torch.randn(10, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    h[6] = h[5]  # a plane that is not resolved
    for changes in VARIANTS.values():
        for block in small("grassmann", **changes).blocks:
            worst = max(worst, (block.mixer(h[None])[0] - by_hand(block.mixer, h)).abs().max().item())
    assert worst < 1e-13, worst
    return f"largest difference {worst:.1e}"


def check_factorised() -> str:
    worst = {"logits": 0.0, "gradients": 0.0}
    ids, targets = random_ids(), random_ids((3, 12)).flip(0)
    for changes in VARIANTS.values():
        paper, factorised = small("grassmann", **changes), small("grassmann", factorised=True, **changes)
        logits = [model(ids) for model in (paper, factorised)]
        for one in logits:
            loss_of(one, targets).backward()
        worst["logits"] = max(worst["logits"], (logits[0] - logits[1]).abs().max().item())
        everything = torch.cat([p.grad.flatten() for p in paper.parameters()]).norm()
        for a, b in zip(paper.parameters(), factorised.parameters(), strict=True):
            difference = (a.grad - b.grad).norm() / max(a.grad.norm(), 1e-3 * everything)
            worst["gradients"] = max(worst["gradients"], difference.item())
    assert max(worst.values()) < 1e-12, worst
    return ", ".join(f"{key} {value:.1e}" for key, value in worst.items())


def check_unresolved() -> str:
    """Repeated and zero states: no plane, hence g = bias and finite gradients; nearly parallel ones just the same."""
    for factorised in (False, True):
        mixing = small("grassmann", factorised).blocks[0].mixer
        z = torch.zeros(1, 6, 1, 4, dtype=torch.float64)
        z[0, :3, 0] = torch.tensor([1.0, -2.0, 0.5, 3.0])
        z[0, 2, 0, 1] += 1e-5  # a sine below the bound
        z[0, 5, 0, 0] = 1.0  # its partner is zero
        z.requires_grad_()
        weights = torch.ones(1, 6, 1, dtype=torch.float64)
        g = (mixing.project_once if factorised else mixing.project_each)(z, weights)
        g.sum().backward()
        assert (g == 0).all() and (z.grad == 0).all(), (g, z.grad)
    return "values and gradients are exactly zero"


def check_causality() -> str:
    ids = random_ids()
    runs = 0
    models = [small("grassmann", factorised, **v) for v in VARIANTS.values() for factorised in (False, True)]
    models += [small("transformer", norm=norm) for norm in ("post", "pre")]
    with torch.no_grad():
        for model in models:
            before = model(ids)
            for s in range(ids.shape[1]):
                changed = ids.clone()
                changed[:, s] = (changed[:, s] + 1) % 61
                after = model(changed)
                assert torch.equal(before[:, :s], after[:, :s]), f"token {s} shows earlier"
                assert not torch.equal(before[:, s], after[:, s])
                runs += 1
    return f"{runs} changed tokens, every earlier logit bit-identical"


def check_attention() -> str:
    """Against softmax(q kᵀ/√n + mask) v written out."""
    mixer = small("transformer").blocks[0].mixer
    h = torch.randn(2, 9, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    q, k, v = mixer.qkv(h).split(16, dim=-1)
    heads = []
    for c in (slice(0, 8), slice(8, 16)):
        scores = q[..., c] @ k[..., c].mT / 8**0.5 + torch.full((9, 9), -torch.inf, dtype=torch.float64).triu(1)
        heads.append(scores.softmax(-1) @ v[..., c])
    difference = (mixer.output(torch.cat(heads, -1)) - mixer(h)).abs().max().item()
    assert difference < 1e-13, difference
    return f"largest difference {difference:.1e}"


@torch.no_grad()
def check_decoder() -> str:
    """Token by token, the logits are those of the whole forward."""
    worst = 0.0
    for model in (small("transformer"), small("grassmann", offsets=[[1, 2, 5], [3], [1, 8]])):
        ids = random_ids((1, 12))
        decoder = Decoder(model)
        steps = torch.stack([decoder.step(token) for token in ids[0].tolist()])
        worst = max(worst, (steps - model(ids)[0]).abs().max().item())
    assert worst < 1e-12, worst
    return f"largest difference {worst:.1e}"


def check_names_and_start() -> str:
    settings = {"vocab_size": 61, "layers": 1, "offsets": [[1, 2]], "mixer_output": "mlp", "offset_weights": "token"}
    model = from_config({"model": "grassmann", "settings": settings | {"tie_embedding": False, "gate_bias": 2.0}})
    mixer = ["reduce", "plucker", "gate", "output", "offset_head"]
    layers = [f"mixer.{name}" for name in mixer] + [
        "mixer_norm",
        "feed_forward.up",
        "feed_forward.down",
        "feed_forward_norm",
    ]
    expected = {f"blocks.0.{name}.{part}" for name in layers for part in ("weight", "bias")}
    expected |= {
        "token_embedding.weight",
        "position_embedding.weight",
        "final_norm.weight",
        "final_norm.bias",
        "head.weight",
    }
    assert set(model.state_dict()) == expected, set(model.state_dict()) ^ expected
    assert (model.blocks[0].mixer.gate.bias == 2).all() and (model.blocks[0].mixer.reduce.bias == 0).all()
    for bad in ({"norm": "both"}, {"offsets": [[1]] * 2}, {"offsets": [[0]] * 6}):
        try:
            Settings(model="grassmann", vocab_size=61, **bad)
        except ValueError:
            continue
        raise AssertionError(f"{bad} was taken")
    return f"{len(expected)} names, gate bias, bad settings refused"


def main() -> None:
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            print(f"{name.removeprefix('check_').replace('_', ' ')}: {check()}")


if __name__ == "__main__":
    main()

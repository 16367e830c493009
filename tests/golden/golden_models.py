"""The cases of lm_small.safetensors: both language models, small, in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from golden_ops import rounded
from models import IGNORE_INDEX, LanguageModel, from_config, loss_of, parameter_groups, shifted

VOCABULARY, LENGTH, BATCH = 61, 12, 3
ADAMW = {"lr": 1e-2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0, "steps": 10}

# Some cases have a smaller vocabulary and fewer layers, to keep the file small. The seeds are ones whose
# angles between states are not small: errors of float32 grow as 1/angle.
SHORT = {"vocab_size": 31}
MODEL_CASES: dict[str, dict[str, Any]] = {
    "transformer-post": {"model": "transformer", "layers": 3, "seed": 4},
    "transformer-pre": {"model": "transformer", "layers": 2, "norm": "pre", "seed": 3} | SHORT,
    "grassmann-paper": {"model": "grassmann", "layers": 3, "offsets": [[1], [2], [4]], "seed": 28},
    "grassmann-heads": {
        "model": "grassmann",
        "layers": 3,
        "heads": 2,
        "offsets": [[1], [2, 3], [1, 2, 4, 4]],
        "seed": 11,
    },
    "grassmann-sum-none": {
        "model": "grassmann",
        "layers": 1,
        "offsets": [[1, 3]],
        "aggregate": "sum",
        "normalize": "none",
        "gate_bias": 1.0,
        "seed": 1,
    }
    | SHORT,
    "grassmann-learned": {
        "model": "grassmann",
        "layers": 2,
        "heads": 2,
        "offsets": [[1, 2, 4], [3, 1]],
        "offset_weights": "learned",
        "mixer_output": "linear",
        "seed": 13,
    }
    | SHORT,
    "grassmann-token": {
        "model": "grassmann",
        "layers": 2,
        "offsets": [[1, 2, 4], [2, 5]],
        "offset_weights": "token",
        "mixer_output": "mlp",
        "norm": "pre",
        "tie_embedding": False,
        "final_norm": False,
        "seed": 2,
    }
    | SHORT,
    # Positions 5 and 6 of each text have the same token and the same position row: a plane that is not resolved.
    "grassmann-unresolved": {"model": "grassmann", "layers": 1, "offsets": [[1, 2]], "seed": 23} | SHORT,
}


def model_config(case: str) -> dict[str, Any]:
    shared = {
        "vocab_size": VOCABULARY,
        "max_length": LENGTH,
        "d_model": 16,
        "d_ff": 32,
        "dropout": 0.0,
        "norm": "post",
        "tie_embedding": True,
        "final_norm": True,
        "init_std": 0.02,
    }
    own = {"rank": 4, "heads": 1, "aggregate": "mean", "normalize": "unit", "gate_bias": 0.0}
    own |= {"mixer_output": "none", "offset_weights": "uniform"}
    changes = dict(MODEL_CASES[case])
    model = changes.pop("model")
    del changes["seed"]
    defaults = own if model == "grassmann" else {"heads": 2, "attention_dropout": 0.0}
    return {"model": model, "settings": shared | defaults | changes}


def draw_weights(model: LanguageModel, case: str, generator: torch.Generator) -> None:
    """N(0, 0.3) throughout, round 1 for LayerNorm weights and round its setting for the gate's bias."""
    gate_bias = model.settings.gate_bias
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
            parameter.add_(1.0 if "norm.weight" in name else gate_bias if name.endswith("gate.bias") else 0.0)
        if case == "grassmann-unresolved":
            model.position_embedding.weight[6] = model.position_embedding.weight[5]
        for parameter in model.parameters():
            parameter.copy_(rounded(parameter))


def draw_text(case: str, vocabulary: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ids with repeats, near and far, and targets of which a few do not count."""
    stream = torch.randint(vocabulary, (BATCH, LENGTH + 1), generator=generator)
    stream[0, 3:6] = stream[0, 2]
    stream[1, 8:12] = stream[1, 2:6]
    inputs, targets = stream[:, :-1].clone(), stream[:, 1:].clone()
    if case == "grassmann-unresolved":
        inputs[:, 6] = inputs[:, 5]
    targets[0, 0] = targets[1, 5] = targets[2, -1] = IGNORE_INDEX
    return inputs, targets


def sines(model: LanguageModel, inputs: Tensor) -> Tensor:
    """The sine of the angle between the two states of every pair that the model forms."""
    found: list[Tensor] = []

    def look(mixer: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        z = mixer.reduce(arguments[0]).unflatten(-1, (mixer.heads, mixer.rank))
        v = F.normalize(z, dim=-1)
        for offset in mixer.offsets:
            u = F.normalize(shifted(z, offset), dim=-1)[:, offset:]
            found.append((u - (u * v[:, offset:]).sum(-1, keepdim=True) * v[:, offset:]).norm(dim=-1).flatten())

    handles = [block.mixer.register_forward_pre_hook(look) for block in model.blocks if hasattr(block.mixer, "offsets")]
    with torch.no_grad():
        model(inputs)
    for handle in handles:
        handle.remove()
    return torch.cat(found) if found else torch.ones(1, dtype=torch.float64)


def adamw_losses(model: LanguageModel, inputs: Tensor, targets: Tensor) -> Tensor:
    """The loss before each of the updates, always on the same batch."""
    optimizer = torch.optim.AdamW(
        parameter_groups(model, ADAMW["weight_decay"]),
        lr=ADAMW["lr"],
        betas=(ADAMW["beta1"], ADAMW["beta2"]),
        eps=ADAMW["eps"],
        foreach=False,
    )
    losses = []
    for _ in range(ADAMW["steps"]):
        optimizer.zero_grad()
        loss = loss_of(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), ADAMW["clip_norm"])
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def relative(a: Tensor, b: Tensor, floor: float = 0.0) -> float:
    return ((a.double() - b).norm() / max(b.norm().item(), floor)).item()


def model_case(case: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    generator = torch.Generator().manual_seed(MODEL_CASES[case]["seed"])
    config = model_config(case)
    model = from_config(config).double()
    draw_weights(model, case, generator)
    inputs, targets = draw_text(case, config["settings"]["vocab_size"], generator)
    twin = from_config(config)  # the same in float32, only to print what rounding does
    twin.load_state_dict({name: weight.float() for name, weight in model.state_dict().items()})

    tensors = {f"weights/{name}": weight.float().clone() for name, weight in model.state_dict().items()}
    logits = model(inputs)
    loss = loss_of(logits, targets)
    loss.backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    tensors |= {f"gradients/{name}": gradient for name, gradient in gradients.items()}
    tensors |= {"inputs": inputs, "targets": targets, "logits": logits.detach(), "loss": loss.detach()}
    angles = sines(model, inputs)
    tensors["adamw_losses"] = adamw_losses(model, inputs, targets)

    loss_of(twin(inputs), targets).backward()
    everything = torch.cat([g.flatten() for g in gradients.values()]).norm().item()
    worst = max(relative(p.grad, gradients[name], 1e-3 * everything) for name, p in twin.named_parameters())
    drift = relative(adamw_losses(twin, inputs, targets), tensors["adamw_losses"])
    print(
        f"{case}: loss {loss.item():.6f} -> {tensors['adamw_losses'][-1].item():.6f}, |gradients| {everything:.3f}, "
        f"smallest sine {angles[angles > 1e-6].min().item():.3f}, not resolved {(angles <= 1e-6).sum().item()}; "
        f"float32: gradients {worst:.1e}, AdamW losses {drift:.1e}"
    )
    details = config | {"adamw": ADAMW, "ignore_index": IGNORE_INDEX}
    return {f"{case}/{name}": tensor.contiguous() for name, tensor in tensors.items()}, details

"""Writes bert_small.safetensors: states and gradients of Hugging Face's BERT and DistilBERT, in float64.

    python tests/golden/make_bert_golden.py     # needs bench/peers/requirements.txt, and transformers 4.40 or later

As in make_golden.py, weights are numbers that float32 holds exactly, stored as F32 under their public names; what is
computed from them is F64. The metadata of the file holds each case's config.json.
"""

from __future__ import annotations

import json
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from make_golden import HERE, write  # first: it shows where golden_ops finds its modules
from golden_ops import rounded  # noqa: I001

VOCABULARY, LENGTH, POSITIONS = 31, 9, 12
BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
}
DISTILBERT = {
    "vocab_size": VOCABULARY,
    "dim": 16,
    "n_heads": 4,
    "hidden_dim": 24,
    "max_position_embeddings": POSITIONS,
}


def models() -> dict[str, tuple[nn.Module, nn.Module]]:
    """Name → the model whose weights are published, and the encoder in it."""
    bert = transformers.BertForPreTraining(transformers.BertConfig(**BERT, num_hidden_layers=2, layer_norm_eps=1e-6))
    types = transformers.BertConfig(**BERT, num_hidden_layers=1, type_vocab_size=3)
    plain_bert = transformers.BertModel(types, add_pooling_layer=False)
    distilbert = transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(**DISTILBERT, n_layers=2))
    plain = transformers.DistilBertModel(transformers.DistilBertConfig(**DISTILBERT, n_layers=1))
    return {
        "bert": (bert, bert.bert),
        "bert-plain": (plain_bert, plain_bert),
        "distilbert": (distilbert, distilbert.distilbert),
        "distilbert-plain": (plain, plain),
    }


def draw_weights(model: nn.Module, generator: torch.Generator) -> None:
    """N(0, 0.3) throughout, round 1 for LayerNorm weights."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
            if name.lower().endswith(("layernorm.weight", "layer_norm.weight")):
                parameter.add_(1.0)
            parameter.copy_(rounded(parameter))


def draw_batch(types: int, pooler: bool, generator: torch.Generator) -> dict[str, Tensor]:
    """Ids of three texts: padded at the end, padded within (and at the front, where no pooler looks), not padded."""
    batch = {"input_ids": torch.randint(1, VOCABULARY, (3, LENGTH), generator=generator)}
    mask = torch.ones(3, LENGTH, dtype=torch.int64)
    mask[0, 5:] = 0
    mask[1, int(pooler) : 3] = mask[1, 5] = 0
    batch["attention_mask"] = mask
    if types > 0:
        batch["token_type_ids"] = torch.randint(types, (3, LENGTH), generator=generator)
    return batch


def case_tensors(model: nn.Module, encoder: nn.Module, generator: torch.Generator) -> dict[str, Tensor]:
    pooler = getattr(encoder, "pooler", None) is not None
    batch = draw_batch(getattr(encoder.config, "type_vocab_size", 0), pooler, generator)
    padding = (batch["attention_mask"] == 0)[..., None]
    out = encoder(**batch, output_hidden_states=True)
    cotangents = {"states": rounded(torch.randn(out.last_hidden_state.shape, generator=generator, dtype=torch.float64))}
    cotangents["states"] = cotangents["states"].masked_fill(padding, 0)
    total = (out.last_hidden_state * cotangents["states"]).sum()
    tensors = dict(batch)
    if pooler:
        tensors["pooled"] = out.pooler_output.detach()
        cotangents["pooled"] = rounded(torch.randn(out.pooler_output.shape, generator=generator, dtype=torch.float64))
        total = total + (out.pooler_output * cotangents["pooled"]).sum()
    total.backward()
    for i, states in enumerate(out.hidden_states):
        tensors[f"states.{i}"] = states.detach().masked_fill(padding, 0)
    tensors |= {f"cotangents/{name}": x for name, x in cotangents.items()}
    tensors |= {f"weights/{name}": x.float() for name, x in model.state_dict().items()}
    tensors |= {f"gradients/{name}": x.grad for name, x in encoder.named_parameters()}
    return tensors


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(31)
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    for name, (model, encoder) in models().items():
        model.double().eval()
        draw_weights(model, generator)
        found = case_tensors(model, encoder, generator)
        tensors |= {f"{name}/{key}": x.detach().contiguous().clone() for key, x in found.items()}
        config: dict[str, Any] = encoder.config.to_dict()
        metadata[name] = json.dumps(config, sort_keys=True)
    write(HERE / "bert_small.safetensors", tensors, metadata)


if __name__ == "__main__":
    main()

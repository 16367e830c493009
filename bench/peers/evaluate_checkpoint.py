"""Loss of a gflow checkpoint on a text, computed without gflow: the paper's order of operations, other tokenizers.

    python evaluate_checkpoint.py RUN_DIR TEXT_FILE [--which best|last] [--batch 8] [--dtype float32|float64]

The text is one stream of N ids; chunk i has inputs x[iL, iL+L) and the targets shifted by one; the last, partial chunk
counts, so that there are N−1 targets. Prints one JSON line: loss (nats per target), perplexity, nats_per_word
(whitespace words), bits_per_byte, targets.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models import from_config, load_safetensors

UNKNOWN = "<unk>"  # as Wikitext-2 writes it
Encode = Callable[[str], list[int]]


def wordpiece(path: Path) -> tuple[Encode, int]:
    """BERT uncased, no special tokens added, and the id of [UNK]."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = path.read_text(encoding="utf-8").split("\n")
    vocabulary = {piece: i for i, piece in enumerate(pieces[:-1] if pieces[-1] == "" else pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([t for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if t in vocabulary])
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids, vocabulary["[UNK]"]


def sentencepiece(path: Path) -> tuple[Encode, int]:
    """The model's own ids, line by line unless it has a piece for line ends, and the id of its unknown piece."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(path))
    unknown = processor.unk_id()
    joined = processor.encode("a\na")
    if joined == processor.encode("a") * 2 or unknown in joined:
        return lambda text: [i for line in text.split("\n") for i in processor.encode(line)], unknown
    return processor.encode, unknown


def encode_text(run: Path, tokenizer: dict[str, Any], text: str) -> list[int]:
    """Ids of a text with the tokenizer that config.json names; with unk_as_token a literal <unk> is one id."""
    loaders = {"wordpiece": wordpiece, "sentencepiece": sentencepiece}
    encode, unknown = loaders[tokenizer["kind"]](run / tokenizer["file"])
    if not tokenizer["unk_as_token"]:
        return encode(text)
    ids: list[int] = []
    for i, part in enumerate(text.split(UNKNOWN)):
        ids += ([unknown] if i else []) + encode(part)
    return ids


def chunks(ids: Tensor, length: int, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs and targets, [up to batch, length]; the partial chunk comes alone."""
    targets = len(ids) - 1
    whole = targets // length * length
    inputs, shifted = ids[:whole].view(-1, length), ids[1 : whole + 1].view(-1, length)
    yield from zip(inputs.split(batch), shifted.split(batch), strict=True)
    if whole < targets:
        yield ids[None, whole:-1], ids[None, whole + 1 :]


@torch.inference_mode()
def total_nats(model: torch.nn.Module, ids: Tensor, length: int, batch: int) -> float:
    total = 0.0
    done = 0
    for inputs, targets in chunks(ids, length, batch):
        logits = model(inputs).flatten(0, 1)
        total += F.cross_entropy(logits, targets.flatten(), reduction="none").double().sum().item()
        done += targets.numel()
        if sys.stderr.isatty():
            print(f"\r{done:,} of {len(ids) - 1:,} targets, loss {total / done:.4f}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    assert done == len(ids) - 1
    return total


def evaluate(arguments: argparse.Namespace) -> dict[str, Any]:
    run: Path = arguments.run
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    text = arguments.text.read_bytes()
    ids = encode_text(run, config["tokenizer"], text.decode("utf-8"))
    if len(ids) < 2:
        raise ValueError(f"{arguments.text}: a text needs at least 2 tokens; got {len(ids)}")
    model = from_config(config, arguments.formulation == "factorised")
    load_safetensors(model, run / arguments.which / "model.safetensors")
    model = model.to(getattr(torch, arguments.dtype)).eval()
    length = arguments.seq_len or model.settings.max_length
    if not 1 <= length <= model.settings.max_length or arguments.batch < 1:
        raise ValueError(f"--seq-len must be 1 to {model.settings.max_length} and --batch at least 1")
    total = total_nats(model, torch.tensor(ids), length, arguments.batch)
    loss = total / (len(ids) - 1)
    return {
        "loss": loss,
        "perplexity": math.exp(loss),
        "nats_per_word": total / max(len(text.split()), 1),
        "bits_per_byte": total / math.log(2) / len(text),
        "targets": len(ids) - 1,
        "seq_len": length,
        "which": arguments.which,
        "dtype": arguments.dtype,
        "parameters": model.parameter_count(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, metavar="RUN_DIR")
    parser.add_argument("text", type=Path, metavar="TEXT_FILE")
    parser.add_argument("--which", choices=["best", "last"], default="best")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--seq-len", type=int, help="chunk length L (default: the model's length)")
    parser.add_argument("--formulation", choices=["paper", "factorised"], default="paper")
    parser.add_argument("--threads", type=int, help="default: PyTorch's choice")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    try:
        print(json.dumps(evaluate(arguments)))
    except (OSError, UnicodeDecodeError, ValueError, RuntimeError, KeyError) as problem:
        message = f"missing key {problem}" if isinstance(problem, KeyError) else str(problem)
        sys.exit(f"evaluate_checkpoint: {message}")


if __name__ == "__main__":
    main()

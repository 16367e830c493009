"""Writes lm_small.safetensors and ops.safetensors: values and gradients from PyTorch in float64.

    python tests/golden/make_golden.py          # needs bench/peers/requirements.txt

Every input is a number that float32 holds exactly, so that a float32 test starts from the same point. Weights are
stored as F32 for that reason (and to halve their size); everything computed from them is F64. The metadata of each file
holds one JSON text per case: settings of a model, or arguments of an op.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench" / "peers"))
from golden_models import MODEL_CASES, model_case  # noqa: E402
from golden_ops import op_tensors  # noqa: E402


def write(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    content = save(tensors, metadata)
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))  # else in another order at every run
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    print(f"{path.name}: {len(metadata)} cases, {len(tensors)} tensors, {path.stat().st_size:,} bytes")


def main() -> None:
    torch.set_num_threads(1)
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    for case in MODEL_CASES:
        found, details = model_case(case)
        tensors |= found
        metadata[case] = json.dumps(details)
    write(HERE / "lm_small.safetensors", tensors, metadata)
    write(HERE / "ops.safetensors", *op_tensors(torch.Generator().manual_seed(20)))


if __name__ == "__main__":
    main()

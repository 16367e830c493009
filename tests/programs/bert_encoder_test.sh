# bench/bert_encoder prints one JSON line, of a folder's weights or of random ones.
. "$(dirname "$0")/support.sh"
python3 - "$work" <<'PY' || fail "no encoder was written"
import json, struct, sys
from pathlib import Path

d, ff, shapes = 4, 6, {}
for name, shape in {"word_embeddings": [9, d], "position_embeddings": [8, d]}.items():
    shapes[f"embeddings.{name}.weight"] = shape
norms = ["embeddings.LayerNorm", "transformer.layer.0.sa_layer_norm", "transformer.layer.0.output_layer_norm"]
maps = {f"attention.{x}_lin": [d, d] for x in ["q", "k", "v", "out"]} | {"ffn.lin1": [ff, d], "ffn.lin2": [d, ff]}
for name in norms:
    shapes |= {name + ".weight": [d], name + ".bias": [d]}
for name, shape in maps.items():
    shapes |= {f"transformer.layer.0.{name}.weight": shape, f"transformer.layer.0.{name}.bias": shape[:1]}
header, data = {}, b""
for name, shape in shapes.items():
    begin, count = len(data), shape[0] * (shape[1] if len(shape) > 1 else 1)
    data += struct.pack(f"<{count}f", *([0.5] * count))
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
folder = Path(sys.argv[1]) / "tiny"
folder.mkdir()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
config = {"model_type": "distilbert", "vocab_size": 9, "dim": d, "n_layers": 1, "n_heads": 2, "hidden_dim": ff}
(folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 8}))
PY
expect 0 "" "$bin/bert_encoder" --load "$work/tiny" --batch 3 --shortest 2 --length 8 --repeats 1
python3 -c '
import json, sys
got = json.loads(open(sys.argv[1]).read())
assert got["threads"] == 1 and got["batch"] == 3 and got["parameters"] == 230, got
assert got["tokens"] == 2 + 5 + 8, got  # 2 + 17 i modulo 7
assert abs(got["tokens_per_s"] * got["ms"] / 1e3 / got["tokens"] - 1) < 1e-9
' "$work/out" || fail "the line is wrong: $(cat "$work/out")"
expect 1 "one of the positions" "$bin/bert_encoder" --load "$work/tiny" --length 9
expect 1 "config.json" "$bin/bert_encoder" --load "$work/none"
expect 2 "--model must be" "$bin/bert_encoder" --model roberta
expect 2 "--precision must be" "$bin/bert_encoder" --load "$work/tiny" --length 8 --precision half
expect 2 "must not exceed" "$bin/bert_encoder" --shortest 9 --length 8
finish

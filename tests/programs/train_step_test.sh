# bench/train_step prints one JSON line with the keys that it promises.
. "$(dirname "$0")/support.sh"
for model in grassmann transformer; do
    expect 0 "" "$bin/train_step" --model $model --preset small --precision fp32 --threads 1 --steps 2 --batch 1 --vocab-size 100
    python3 -c '
import json, sys
lines = open(sys.argv[2]).read().splitlines()
assert len(lines) == 1
got = json.loads(lines[0])
assert got["model"] == sys.argv[1] and got["threads"] == 1 and got["precision"] == "fp32"
d, L, layers, V = 128, 128, 4, 100
mixer = 2 * d * d + 16 * d + 120 * d if got["model"] == "grassmann" else 4 * d * d
weights = V * d + layers * (mixer + 2 * d * 4 * d)
attention = layers * (L + 1) * d if got["model"] == "transformer" else 0
assert abs(got["model_gflop_per_step"] - 6e-9 * L * (weights + attention)) < 1e-9, got
assert got["tokens_per_s"] > 0 and abs(got["tokens_per_s"] * got["step_ms"] / 1e3 - L) < 1e-6 * L
assert got["peak_rss_mb"] > 1 and got["parameters"] > weights
' $model "$work/out" || fail "$model: the line is wrong: $(cat "$work/out")"
done
expect 0 '"offsets":[[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8]]' "$bin/train_step" --model grassmann --offsets all --preset small --steps 1 --batch 1 --vocab-size 10
expect 0 '"recompute":true' "$bin/train_step" --model transformer --recompute --preset small --steps 1 --batch 1 --vocab-size 10
expect 2 "--offsets belong to --model grassmann" "$bin/train_step" --model transformer --offsets 1,2
expect 2 "--model must be" "$bin/train_step" --model rnn
expect 2 "--model is required" "$bin/train_step"
expect 0 "" "$bin/train_step" --model grassmann --preset small --precision bf16 --threads 1 --steps 1 --batch 1 --vocab-size 100
finish

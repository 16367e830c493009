# bench/mixing_layer prints one JSON line a length with the keys that it promises.
. "$(dirname "$0")/support.sh"
for layer in grassmann attention; do
    expect 0 "" "$bin/mixing_layer" --layer $layer --lengths 4,16 --tokens 40 --repeats 2 --threads 1 --budget 60
    python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2])]
assert [(x["length"], x["batch"]) for x in lines] == [(4, 10), (16, 2)]
for got in lines:
    assert got["layer"] == sys.argv[1] and got["threads"] == 1 and 1 <= got["repeats"] <= 2
    assert got.get("offsets") == ([1] if got["layer"] == "grassmann" else None)
    tokens = got["length"] * got["batch"]
    assert got["ms"] > 0 and abs(got["tokens_per_s"] * got["ms"] / 1e3 - tokens) < 1e-6 * tokens
    assert got["peak_rss_mb"] > 1
' $layer "$work/out" || fail "$layer: the lines are wrong: $(cat "$work/out")"
done
expect 0 '"offsets":[1,2,4,8,12,16]' "$bin/mixing_layer" --layer grassmann --offsets all --lengths 32 --tokens 32 --repeats 1
expect 0 '"repeats":1,"warm":false' "$bin/mixing_layer" --layer attention --lengths 32 --tokens 32 --budget 1e-9
expect 2 "--layer must be" "$bin/mixing_layer" --layer rnn
expect 2 "--layer is required" "$bin/mixing_layer"
expect 2 "--precision must be one of fp32, bf16; got fp16" "$bin/mixing_layer" --layer grassmann --precision fp16
expect 2 "--offsets belong to --layer grassmann" "$bin/mixing_layer" --layer attention --offsets 1
expect 2 "--lengths must not exceed --tokens 8" "$bin/mixing_layer" --layer attention --lengths 16 --tokens 8
finish

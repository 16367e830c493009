# bench/decode prints one JSON line for each window of positions.
. "$(dirname "$0")/support.sh"
for model in grassmann transformer; do
    expect 0 "" "$bin/decode" --model $model --preset small --max-length 60 --window 20 --repeats 1 --vocab-size 50
    python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2])]
assert [x["position"] for x in lines] == [0, 20, 40]
for got in lines:
    assert got["model"] == sys.argv[1] and got["threads"] == 1 and got["vocab_size"] == 50
    assert got["ms_per_token"] > 0 and abs(got["tokens_per_s"] * got["ms_per_token"] - 1e3) < 1e-6
' $model "$work/out" || fail "$model: the lines are wrong: $(cat "$work/out")"
done
expect 2 "multiple of --window" "$bin/decode" --model grassmann --max-length 100 --window 30
expect 2 "--model must be" "$bin/decode" --model rnn
finish

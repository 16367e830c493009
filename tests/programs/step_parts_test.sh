# bench/step_parts prints one JSON line for each part of a step, and one for the step.
. "$(dirname "$0")/support.sh"
for model in grassmann transformer; do
    expect 0 "" "$bin/step_parts" --model $model --preset small --batch 1 --seq-len 16 --repeats 1 --vocab-size 50
    python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2])]
parts, step = lines[:-1], lines[-1]
by_name = {x["part"]: x for x in parts}
assert len(by_name) == len(parts) and step["part"] == "step"
assert all(x["model"] == sys.argv[1] and x["threads"] == 1 for x in lines)
V, d, L, layers = 50, 128, 16, 4
mixer = ["reduce", "plucker", "gate", "blend"] if sys.argv[1] == "grassmann" else ["q k v", "attention", "output"]
for name in mixer:
    assert by_name["mixer, " + name]["count"] == layers
up = by_name["feed-forward, up"]
assert abs(up["forward_gflop"] - 2e-9 * layers * L * d * 4 * d) < 1e-12 and up["backward_gflop"] == 2 * up["forward_gflop"]
assert abs(by_name["head and loss"]["forward_gflop"] - 6e-9 * L * V * d) < 1e-12
total = sum(x["forward_ms"] + x["backward_ms"] for x in parts)
assert abs(total - step["sum_ms"]) < 1e-6 * total and abs(step["sum_ms"] + step["rest_ms"] - step["step_ms"]) < 1e-6
assert step["peak_gflop_per_s"] > 0 and step["memory_gb_per_s"] > 0 and step["floor_ms"] > 0
' $model "$work/out" || fail "$model: the lines are wrong: $(cat "$work/out")"
done
expect 2 "--model must be" "$bin/step_parts" --model rnn
finish

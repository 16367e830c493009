# train_lm from end to end: a run, its files, resume bit for bit, Ctrl-C.
. "$(dirname "$0")/support.sh"
make_text "$work/text.txt"
run="$bin/train_lm --data $work/text.txt $tiny --eval-every 7 --checkpoint-every 5"

# A run writes its folder, and says where.
for model in grassmann transformer; do
    expect 0 "all in $work/$model" $run --model $model --steps 20 --out "$work/$model"
    for file in config.json tokenizer.model metrics.jsonl result.json best/model.safetensors best/config.json \
        last/model.safetensors last/config.json last/optimizer.safetensors last/state.json; do
        [ -s "$work/$model/$file" ] || fail "missing: $file"
    done
    [ "$(grep -c '"loss"' "$work/$model/metrics.jsonl")" = 20 ] || fail "metrics: not 20 steps"
    [ "$(grep -c '"valid_loss"' "$work/$model/metrics.jsonl")" = 3 ] || fail "metrics: not 3 evaluations"
    for key in step tokens loss lr grad_norm tokens_per_s; do
        head -1 "$work/$model/metrics.jsonl" | grep -q "\"$key\":" || fail "metrics: no $key"
    done

    # 20 steps are 10, a stop, and 10 more, bit for bit.
    expect 0 "stopped at step 10 of 20" $run --model $model --steps 20 --stop-after 10 --out "$work/$model-part"
    expect 0 "resumed at step 10" "$bin/train_lm" --resume "$work/$model-part"
    for file in last/model.safetensors last/optimizer.safetensors best/model.safetensors; do
        same "$work/$model/$file" "$work/$model-part/$file"
    done
    without_speed "$work/$model/metrics.jsonl" >"$work/a"
    without_speed "$work/$model-part/metrics.jsonl" >"$work/b"
    same "$work/a" "$work/b"

    # The same seed gives the same run on any number of threads, another seed another.
    expect 0 "" $run --model $model --steps 8 --out "$work/$model-1"
    expect 0 "" $run --model $model --steps 8 --threads 3 --out "$work/$model-3"
    expect 0 "" $run --model $model --steps 8 --seed 2 --out "$work/$model-seed"
    same "$work/$model-1/last/model.safetensors" "$work/$model-3/last/model.safetensors"
    cmp -s "$work/$model-1/last/model.safetensors" "$work/$model-seed/last/model.safetensors" && fail "seeds agree"
done

# Training lowers the loss.
expect 0 "" $run --steps 120 --lr 3e-3 --warmup 10 --out "$work/learns"
first=$(sed -nE '1s/.*"loss":([0-9.]+).*/\1/p' "$work/learns/metrics.jsonl")
last=$(grep '"loss"' "$work/learns/metrics.jsonl" | tail -1 | sed -E 's/.*"loss":([0-9.]+).*/\1/')
awk "BEGIN { exit !($last < $first - 0.5) }" || fail "the loss went from $first to $last only"

# A run that has ended stays as it is.
cp "$work/learns/result.json" "$work/result.json"
expect 0 "the run has ended" "$bin/train_lm" --resume "$work/learns"
same "$work/learns/result.json" "$work/result.json"

# A run that is worse than a blind guess says so.
expect 0 "a blind guess has a loss of" $run --steps 30 --lr 100 --clip 0 --out "$work/wild"

# Ctrl-C finishes the step, saves, and says how to go on; the run then ends as an undisturbed one does.
for signal in INT TERM; do
    $run --steps 2000 --out "$work/$signal" >"$work/out" 2>"$work/err" &
    pid=$!
    for _ in $(seq 600); do
        [ "$(grep -c '"loss"' "$work/$signal/metrics.jsonl" 2>/dev/null || true)" -gt 3 ] 2>/dev/null && break
        sleep 0.1
    done
    kill -$signal $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 130 ] || fail "exit status $status after SIG$signal, not 130: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "not one line after SIG$signal: $(cat "$work/err")"
    grep -q "go on with: train_lm --resume $work/$signal" "$work/err" || fail "no word about --resume: $(cat "$work/err")"
    step=$(sed -nE 's/ *"step": ([0-9]+),/\1/p' "$work/$signal/last/state.json")
    [ "$(grep -c '"loss"' "$work/$signal/metrics.jsonl")" = "$step" ] || fail "metrics and checkpoint disagree"
    expect 0 "resumed at step" "$bin/train_lm" --resume "$work/$signal" --stop-after $((step + 5))
done

# A JSON file holds the same settings; the command line overrules it; 
cat >"$work/recipe.json" <<JSON
{"data": "$work/text.txt", "tokenizer": "train:300", "preset": "small", "d-model": 32, "d_ff": 64, "seq_len": 32,
 "batch": 8, "steps": 20, "eval_every": 7, "checkpoint_every": 5, "offsets": [1, 2, 4, 8], "out": "$work/json"}
JSON
expect 0 "" "$bin/train_lm" --config "$work/recipe.json"
same "$work/json/last/model.safetensors" "$work/grassmann/last/model.safetensors"
expect 0 "2 steps" "$bin/train_lm" --config "$work/recipe.json" --steps 2 --out "$work/json-2"

# --minutes measures, fixes the number of steps, and the run is the one that --steps gives.
expect 0 "measuring 20 steps" $run --minutes 0.02 --out "$work/minutes"
steps=$(sed -nE '/"training"/,$ s/ *"steps": ([0-9]+),/\1/p' "$work/minutes/config.json")
[ "${steps:-0}" -ge 1 ] || fail "--minutes: no number of steps in config.json"
expect 0 "" $run --steps "$steps" --out "$work/steps"
same "$work/minutes/last/model.safetensors" "$work/steps/last/model.safetensors"

# A folder with three files, and every model option at once.
mkdir "$work/folder"
for part in train valid test; do cp "$work/text.txt" "$work/folder/$part.txt"; done
expect 2 "--epochs and --steps contradict" "$bin/train_lm" --data "$work/folder" $tiny --steps 3 --epochs 1 --out "$work/x"
expect 0 "" "$bin/train_lm" --data "$work/folder" $tiny --epochs 0.01 --out "$work/options" --offsets "1,2;1,2,4,8,8,8" \
    --rank 4 --heads 2 --aggregate sum --normalize none --gate-bias 1 --mixer-output mlp --offset-weights token --norm pre \
    --no-tie --no-final-norm --init-std 0.05 --dropout 0 --recompute --schedule linear --min-lr 0 --warmup 1 --clip 0 \
    --beta1 0.8 --beta2 0.9 --eps 1e-6 --weight-decay 0.1 --no-unk-as-token
grep -q '"unk_as_token": false' "$work/options/config.json" || fail "--no-unk-as-token is not in config.json"
finish

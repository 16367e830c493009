# What bad input gets: one clear line, the right exit status, nothing half-written, earlier results untouched.
. "$(dirname "$0")/support.sh"
make_text "$work/text.txt"
train="$bin/train_lm"
out="$work/out-folder"
run="$train --data $work/text.txt $tiny --steps 2 --out $out"

# Options: unknown, malformed, out of range, contradictory, of the other model.
expect 2 "--data is missing" "$train" --out "$out"
expect 2 "--out is missing" "$train" --data "$work/text.txt"
expect 2 "--learning-rate" $run --learning-rate 1
expect 2 "--steps" "$train" --data "$work/text.txt" --steps many --out "$out"
expect 2 "--lr must be above 0 and below 1e9; got -1" $run --lr -1
expect 2 "--precision must be one of fp32, bf16; got half" $run --precision half
expect 2 "--steps and --minutes contradict" $run --minutes 1
expect 2 "--model must be grassmann or transformer; got mamba" $run --model mamba
expect 2 "--preset must be paper-6, paper-12 or small; got huge" "$train" --data "$work/text.txt" --preset huge --out "$out"
expect 2 "--rank is no setting of the transformer" $run --model transformer --rank 8
expect 2 "offsets=1,two" $run --offsets 1,two
expect 2 "--layers 3 does not fit the offsets" $run --layers 3
expect 2 "schedule=triangle" $run --schedule triangle
expect 2 "--steps must be at most 1,000,000,000" "$train" --data "$work/text.txt" $tiny --out "$out" --steps 99999999999999999999
expect 2 "--warmup 9 must be at most the number of steps, 2" $run --warmup 9
expect 2 "heads" $run --model transformer --heads 5
expect 2 "tokenizer" "$train" --data "$work/text.txt" --tokenizer bert --out "$out"

# A JSON file: missing, no JSON, unknown key, wrong type.
expect 1 "$work/none.json" $run --config "$work/none.json"
echo '{"lr": ' >"$work/bad.json"
expect 1 "$work/bad.json: line 2" $run --config "$work/bad.json"
echo '{"learning_rate": 1}' >"$work/bad.json"
expect 1 'unknown key "learning_rate"' $run --config "$work/bad.json"
echo '{"lr": "fast"}' >"$work/bad.json"
expect 1 '"lr" must be a number; got "fast"' $run --config "$work/bad.json"

# Text: missing, empty, not UTF-8, too short, a folder without the three files.
expect 1 "$work/none.txt" "$train" --data "$work/none.txt" $tiny --steps 2 --out "$out"
: >"$work/empty.txt"
expect 1 "must not be empty" "$train" --data "$work/empty.txt" $tiny --steps 2 --out "$out"
printf 'one\ntwo \xff\nthree\n' >"$work/latin.txt"
expect 1 "line=2, byte=5" "$train" --data "$work/latin.txt" $tiny --steps 2 --out "$out"
printf 'just one line\n' >"$work/line.txt"
expect 1 "at least 3 lines" "$train" --data "$work/line.txt" $tiny --steps 2 --out "$out"
head -20 "$work/text.txt" >"$work/short.txt"
expect 1 "shorter than a chunk" "$train" --data "$work/short.txt" --preset small --tokenizer train:60 --seq-len 5000 --out "$out"
mkdir "$work/hollow"
expect 1 "$work/hollow" "$train" --data "$work/hollow" $tiny --steps 2 --out "$out"

# Vocabularies: missing, not one, too many pieces to train.
small="--preset small --d-model 32 --seq-len 32 --batch 8 --steps 2 --out $out"
expect 1 "$work/none.txt" "$train" --data "$work/text.txt" --tokenizer "wordpiece:$work/none.txt" $small
expect 1 "vocabulary" "$train" --data "$work/text.txt" --tokenizer "wordpiece:$work/text.txt" $small
expect 1 "" "$train" --data "$work/text.txt" --tokenizer "sentencepiece:$work/text.txt" $small
expect 2 "ask for at most" "$train" --data "$work/text.txt" --tokenizer train:1000000 $small
absent "$out"

# Folders: one that holds a run, one that is a file, one in use, one that cannot be written.
expect 0 "" $run
cp -r "$out" "$work/before"
expect 2 "already holds a run: go on with --resume $out, or give --overwrite" $run
expect 1 "$work/none.txt" "$train" --data "$work/none.txt" $tiny --steps 2 --out "$out" --overwrite
diff -r "$out" "$work/before" >/dev/null || fail "a refused run has changed the earlier one"
(trap '' XFSZ && ulimit -f 16 && expect 1 "File too large" $run --overwrite --seed 3) || exit 1  # as a full disk
diff -r "$out" "$work/before" || fail "an --overwrite that could not write has changed the earlier run"
expect 0 "" $run --overwrite --seed 3
absent "$out/replaced"
cmp -s "$out/last/model.safetensors" "$work/before/last/model.safetensors" && fail "--overwrite changed nothing"
expect 1 "$work/text.txt" "$train" --data "$work/text.txt" $tiny --steps 2 --out "$work/text.txt"
$train --data "$work/text.txt" $tiny --steps 100000 --out "$work/busy" >/dev/null 2>&1 &
busy=$!
for _ in $(seq 100); do [ -e "$work/busy/last" ] && break; sleep 0.1; done
expect 1 "is in use by another run" "$train" --resume "$work/busy"
expect 1 "is in use by another run" "$train" --data "$work/text.txt" $tiny --steps 2 --out "$work/busy" --overwrite
kill -TERM $busy
wait $busy
if [ "$(id -u)" != 0 ]; then
    mkdir "$work/locked" && chmod 500 "$work/locked"
    expect 1 "$work/locked" "$train" --data "$work/text.txt" $tiny --steps 2 --out "$work/locked/run"
fi
expect 1 "/proc/gflow" "$train" --data "$work/text.txt" $tiny --steps 2 --out /proc/gflow

# A disk that takes no more, at the start and later: the limit on file sizes (in kilobytes) stands for it.
limited() {
    (
        trap '' XFSZ
        ulimit -f "$1"
        shift
        "$train" --data "$work/text.txt" $tiny --steps 2 --out "$work/full"
    )
}
train_lm() { limited "$@"; }
expect 1 "tokenizer.model" train_lm 100
absent "$work/full"
expect 1 "the checkpoint of step 0 stays; go on with: train_lm --resume $work/full" train_lm 300
expect 0 "best step 2" "$train" --resume "$work/full"

# Resume: no run, settings that may not change, another text, a damaged or missing checkpoint.
expect 2 "holds no run" "$train" --resume "$work/hollow"
expect 2 "holds no run" "$train" --resume "$work/nowhere"
absent "$work/nowhere"
expect 2 "--lr cannot change when a run is resumed" "$train" --resume "$out" --lr 1
expect 2 "leave out --out" "$train" --resume "$out" --out "$work/x"
sed 's/tensor/matrix/' "$work/text.txt" >"$work/other.txt"
expect 1 "the text is not the one" "$train" --resume "$out" --data "$work/other.txt"
cp -r "$out" "$work/damaged"
sed -i 's/"lr": 0.0005/"lr": 0.5/' "$work/damaged/config.json"
expect 1 "settings cannot change when a run is resumed" "$train" --resume "$work/damaged"
cp "$out/config.json" "$work/damaged"
sed -i 's/"step": 2/"step": -5/' "$work/damaged/last/state.json"
expect 1 "state.json" "$train" --resume "$work/damaged"
cp "$out/last/state.json" "$work/damaged/last"
mv "$work/damaged/tokenizer.model" "$work"
expect 1 "$work/damaged/tokenizer.model" "$train" --resume "$work/damaged"
mv "$work/tokenizer.model" "$work/damaged"
head -c 1000 "$out/last/model.safetensors" >"$work/damaged/last/model.safetensors"
expect 1 "$work/damaged/last/model.safetensors" "$train" --resume "$work/damaged"
rm -r "$work/damaged/last"
expect 1 "last" "$train" --resume "$work/damaged"

# A loss that is no number stops the run, and the checkpoint of before stays.
expect 1 "start again with a lower --lr" "$train" --data "$work/text.txt" $tiny --steps 50 --lr 1e8 --warmup 0 --clip 0 --schedule constant \
    --norm pre --checkpoint-every 1 --out "$work/diverged"
grep -q "step" "$work/diverged/last/state.json" || fail "no checkpoint after divergence"

# evaluate and generate.
expect 2 "--checkpoint" "$bin/evaluate" "$work/text.txt"
expect 1 "is no folder" "$bin/evaluate" --checkpoint "$work/nowhere" "$work/text.txt"
expect 1 'no checkpoint "best"' "$bin/evaluate" --checkpoint "$work/hollow" "$work/text.txt"
expect 2 "--which must be best or last" "$bin/evaluate" --checkpoint "$out" --which first "$work/text.txt"
expect 1 "$work/none.txt" "$bin/evaluate" --checkpoint "$out" "$work/none.txt"
expect 1 "UTF-8" "$bin/evaluate" --checkpoint "$out" "$work/latin.txt"
printf '\n' >"$work/blank.txt"
expect 1 "$work/blank.txt" "$bin/evaluate" --checkpoint "$out" "$work/blank.txt"
expect 2 "--seq-len must be at most 32" "$bin/evaluate" --checkpoint "$out" --seq-len 33 "$work/text.txt"
status=0
"$bin/evaluate" --checkpoint "$out" "$work/text.txt" >/dev/full 2>"$work/err" || status=$?
[ "$status" = 1 ] && grep -q "standard output cannot be written" "$work/err" || fail "evaluate is silent where its result is lost"
cp -r "$work/before" "$work/misfit"
sed -i 's/"layers": 4/"layers": 3/' "$work/misfit/best/config.json"
expect 1 "$work/misfit/best/config.json" "$bin/evaluate" --checkpoint "$work/misfit" "$work/text.txt"
cp "$work/before/best/config.json" "$work/misfit/best"
sed -i 's/"d_model": 32/"d_model": 64/' "$work/misfit/best/config.json"
expect 1 "does not fit its config.json" "$bin/evaluate" --checkpoint "$work/misfit" "$work/text.txt"
rm "$work/misfit/tokenizer.model"
cp "$work/before/best/config.json" "$work/misfit/best/config.json"
expect 1 "tokenizer.model" "$bin/evaluate" --checkpoint "$work/misfit" "$work/text.txt"
expect 2 "at least one token" "$bin/generate" --checkpoint "$out" --prompt ""
expect 2 "temperature" "$bin/generate" --checkpoint "$out" --prompt a --temperature -1
expect 2 "top_p" "$bin/generate" --checkpoint "$out" --prompt a --top-p 2
expect 2 "--max-tokens" "$bin/generate" --checkpoint "$out" --prompt a --max-tokens -1
expect 1 "UTF-8" "$bin/generate" --checkpoint "$out" --prompt "$(printf 'a\xff')"
expect 2 "--seed" "$bin/generate" --checkpoint "$out" --prompt a --seed -1
expect 2 "--max-tokens" "$bin/generate" --checkpoint "$out" --prompt a --max-tokens 99999999999999999999
expect 2 "--precision must be one of fp32, bf16; got fp16" "$bin/train_step" --model grassmann --precision fp16
finish

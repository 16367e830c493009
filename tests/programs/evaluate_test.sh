# evaluate and generate on the checkpoints of a run.
. "$(dirname "$0")/support.sh"
make_text "$work/text.txt"
mkdir "$work/data"
for part in train valid test; do cp "$work/text.txt" "$work/data/$part.txt"; done
head -c 20000 "$work/text.txt" >"$work/data/valid.txt"

for model in grassmann transformer; do
    run=$work/$model
    expect 0 "" "$bin/train_lm" --model $model --data "$work/data" $tiny --steps 30 --eval-every 10 --lr 3e-3 --warmup 2 --out "$run"

    # evaluate finds what train_lm wrote down, for best and last; a checkpoint's own folder will do, too.
    for which in best last; do
        expect 0 "perplexity" "$bin/evaluate" --checkpoint "$run" --which $which "$work/data/valid.txt"
        "$bin/evaluate" --checkpoint "$run" --which $which --json "$work/data/valid.txt" >"$work/$which.json"
        "$bin/evaluate" --checkpoint "$run/$which" --json --batch 3 "$work/data/valid.txt" >"$work/direct.json"
        python3 - "$run" $which "$work/$which.json" "$work/direct.json" <<'PYTHON' || fail "$model $which: evaluate and result.json disagree"
import json, sys
folder, which, found, direct = sys.argv[1:]
wanted = json.load(open(folder + "/result.json"))[which]["valid"]
for path in (found, direct):
    got = json.load(open(path))
    for key in ("loss", "perplexity", "nats_per_word", "bits_per_byte"):
        assert abs(got[key] / wanted[key] - 1) < 1e-5, (path, key, got[key], wanted[key])
    assert got["targets"] == got["tokens"] - 1
PYTHON
    done

    # generate: the same seed gives the same text; the prompt comes first; whole UTF-8 characters; more tokens than
    # the model has positions.
    prompt='inline Tensor — '
    generate="$bin/generate --checkpoint $run"
    $generate --prompt "$prompt" --max-tokens 80 --seed 5 >"$work/a" || fail "generate"
    $generate --prompt "$prompt" --max-tokens 80 --seed 5 >"$work/b" || fail "generate"
    $generate --prompt "$prompt" --max-tokens 80 --seed 6 >"$work/c" || fail "generate"
    same "$work/a" "$work/b"
    cmp -s "$work/a" "$work/c" && fail "seeds agree"
    case "$(cat "$work/a")" in "$prompt"*) ;; *) fail "the text does not begin with the prompt" ;; esac
    iconv -f UTF-8 -t UTF-8 "$work/a" >/dev/null || fail "the text is not UTF-8"
    expect 0 "" $generate --prompt "$prompt" --temperature 0 --which last
    cp "$work/out" "$work/greedy"
    expect 0 "" $generate --prompt "$prompt" --top-k 1 --which last
    same "$work/out" "$work/greedy"
    expect 0 "" $generate --prompt "$prompt" --top-p 0.5 --temperature 0.7
    expect 0 "$prompt" $generate --prompt "$prompt" --max-tokens 0
done
finish

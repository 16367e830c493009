# labels: long
# quickstart on the repository's own text: a table, a report that needs nothing else, both runs.
. "$(dirname "$0")/support.sh"
unset GFLOW_DATA GFLOW_NUM_THREADS
expect 0 "curves and samples: $work/q/report.html" "$bin/quickstart" --root "$source" --minutes 0.2 --out "$work/q"
for word in "text: " GrassmannLM TransformerLM "nats per word" "peak memory"; do
    grep -q "$word" "$work/out" || fail "no \"$word\" in the output"
done
grep -q '<svg' "$work/q/report.html" || fail "the report has no chart"
grep -qE '(src|href)="?http' "$work/q/report.html" && fail "the report refers to the network"
steps() { sed -nE '/"training"/,$ s/ *"steps": ([0-9]+),/\1/p' "$work/q/$1/config.json"; }
[ "$(steps grassmann)" = "$(steps transformer)" ] || fail "the models had different numbers of steps"
[ "$(grep -c '"step"' "$work/q/grassmann/metrics.jsonl")" = "$(grep -c '"step"' "$work/q/transformer/metrics.jsonl")" ] || fail "metrics differ in length"
expect 0 "perplexity" "$bin/evaluate" --checkpoint "$work/q/grassmann" "$source/README.md"

expect 2 "--minutes must be above 0" "$bin/quickstart" --minutes 0 --out "$work/x"
export GFLOW_DATA=$work
expect 1 "GFLOW_DATA is set, but there is no $work/wikitext-2" "$bin/quickstart" --out "$work/x"
unset GFLOW_DATA
expect 1 "no text found" "$bin/quickstart" --root "$work/q/grassmann/best" --out "$work/x"
finish

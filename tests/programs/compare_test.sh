# compare: a table, a page and a picture from the folders of runs.
. "$(dirname "$0")/support.sh"
make_text "$work/text.txt"
for seed in 1 2; do
    # shellcheck disable=SC2086
    expect 0 "" "$bin/train_lm" --data "$work/text.txt" $tiny --steps 4 --eval-every 2 --seed $seed --out "$work/run$seed"
done
expect 0 "validation perplexity" "$bin/compare" "$work/run1" "other=$work/run2" --html "$work/report.html" --svg "$work/curves.svg"
grep -q "^run1 " "$work/out" || fail "the folder does not name the run"
grep -q "^other " "$work/out" || fail "the run has not the name that it was given"
python3 -c "import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])" "$work/curves.svg" || fail "the picture is no XML"
grep -q "other, validation" "$work/report.html" || fail "the page has no legend"
grep -q "weight_decay" "$work/report.html" || fail "the page does not say how the runs were trained"

rm "$work/run2/result.json"  # a run that still goes on
expect 0 "–" "$bin/compare" "$work/run2"
expect 1 "holds no run" "$bin/compare" "$work"
expect 2 "run is required" "$bin/compare"
expect 2 "two runs are named run1" "$bin/compare" "$work/run1" "$work/run1"
expect 2 "a name must stand before" "$bin/compare" "=$work/run1"
expect 2 "must name two files" "$bin/compare" "$work/run1" --svg x --html x
mkdir "$work/folder"
expect 1 "$work/folder" "$bin/compare" "$work/run1" --svg "$work/folder"
finish

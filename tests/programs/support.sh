# What the tests of the programs share: to be sourced. GFLOW_BIN_DIR and GFLOW_SOURCE_DIR come from CMake.
set -u
bin=${GFLOW_BIN_DIR:?} source=${GFLOW_SOURCE_DIR:?}
work=$(mktemp -d "${TMPDIR:-/tmp}/gflow-programs-XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
export GFLOW_NUM_THREADS=1

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: the exit status, a part of what it prints, and for a failure one line on standard
# error that names the program.
expect() {
    local status=$1 text=$2 got=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" || got=$?
    [ "$got" = "$status" ] || fail "exit status $got, not $status: $*$(printf '\n'; cat "$work/out" "$work/err")"
    grep -qF -- "$text" "$work/out" "$work/err" || fail "no \"$text\" in the output of: $*$(printf '\n'; cat "$work/out" "$work/err")"
    if [ "$status" != 0 ]; then
        [ "$(wc -l <"$work/err")" = 1 ] || fail "not one line on standard error: $*$(printf '\n'; cat "$work/err")"
        grep -q "^$(basename "$1"): " "$work/err" || fail "the line does not name the program: $*"
    fi
}

same() { cmp -s "$1" "$2" || fail "differ: $1 $2"; }
absent() { [ ! -e "$1" ] || fail "must not exist: $1"; }

# The numbers of a metrics log that do not depend on the clock.
without_speed() { sed -E 's/,"(tokens_per_s|seconds)":[^,}]*//g' "$1"; }

# A corpus of a few kilobytes, and settings of a model that trains in a second.
make_text() {
    head -c 60000 <(cat "$source"/include/gflow/core/*.hpp) | iconv -c -f UTF-8 -t UTF-8 >"$1"
}
tiny="--tokenizer train:300 --preset small --d-model 32 --d-ff 64 --seq-len 32 --batch 8"

finish() {
    [ "$failures" = 0 ] || { echo "$failures failures" >&2; exit 1; }
    exit 0
}

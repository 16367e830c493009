#!/usr/bin/env bash
# The front script: help, misuse, and what it says where something is missing. No package manager is really called.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash=$(command -v bash)
gflow=$GFLOW_SOURCE_DIR/gflow
out=$work/out err=$work/err

fail() { echo "FAILED: $*" >&2; cat "$out" "$err" >&2; exit 1; }
# expect CODE ARGUMENTS...: runs the script, and compares its exit code
expect() {
    local code=0
    env ${path:+PATH="$path"} CPATH= CPLUS_INCLUDE_PATH= CMAKE_PREFIX_PATH= "$bash" "$gflow" "${@:2}" >"$out" 2>"$err" || code=$?
    [[ $code -eq $1 ]] || fail "gflow ${*:2}: exit code $code, not $1"
}
out_has() { grep -qF -- "$1" "$out" || fail "standard output lacks: $1"; }
err_has() { grep -qF -- "$1" "$err" || fail "standard error lacks: $1"; }
one_line() { [[ $(wc -l <"$err") -eq 1 ]] || fail "not one line on standard error"; }

path=
expect 0 --help
for command in quickstart build test data bench fmt; do
    out_has "  $command "
done
for command in quickstart build test data bench fmt; do
    expect 0 "$command" --help
    grep -qi "usage: .*gflow $command" "$out" || fail "no usage of $command"
done
expect 2
err_has "usage:"
for arguments in "nonsense" "build --nonsense" "test --nonsense" "test --all --fast" "fmt --nonsense" "bench nonsense"; do
    # shellcheck disable=SC2086
    expect 2 $arguments
    one_line
done
expect 2 nonsense
err_has "there is no command nonsense: see ./gflow --help"
expect 2 data nonsense
err_has "wikitext-2"

# A machine without a compiler: only what the script itself calls.
mkdir "$work/bare"
for tool in bash env dirname readlink id uname cat; do
    ln -s "$(command -v "$tool")" "$work/bare/$tool"
done
path=$work/bare
expect 1 build
one_line
err_has "g++ cmake ninja-build"
err_has "install them with the package manager"

# The same with apt-get, for one who may not install.
cat >"$work/bare/apt-get" <<'TEXT'
#!/usr/bin/env bash
echo "$@" >>"${0%/*}/called"
TEXT
printf '#!/usr/bin/env bash\necho 1000\n' >"$work/id"
chmod +x "$work/bare/apt-get" "$work/id"
rm "$work/bare/id"
cp "$work/id" "$work/bare/id"
expect 1 build
one_line
err_has "run: sudo apt-get install g++ cmake ninja-build"
[[ ! -e $work/bare/called ]] || fail "apt-get was called without permission"

# And for root: it is called, and what it did is checked.
printf '#!/usr/bin/env bash\necho 0\n' >"$work/bare/id"
for tool in mktemp rm tail; do
    ln -s "$(command -v "$tool")" "$work/bare/$tool"
done
expect 1 build
out_has "installing g++ cmake ninja-build"
err_has "apt-get succeeded, yet these are not found"
grep -q "install g++ cmake ninja-build" "$work/bare/called" || fail "apt-get was not asked to install"

printf '#!/usr/bin/env bash\necho "E: no network"; exit 100\n' >"$work/bare/apt-get"
expect 1 build
err_has "E: no network"
err_has "apt-get could not install"

# A copy of the script in a folder of its own, with stand-ins for what it calls.
path=
copy=$work/copy
mkdir -p "$copy/data" "$copy/build/bin" "$copy/tools"
cp "$gflow" "$copy/gflow"
gflow=$copy/gflow

if command -v clang-format >/dev/null; then
    cp "$GFLOW_SOURCE_DIR/.clang-format" "$copy"
    mkdir "$copy/include"
    echo "int a;" >"$copy/include/a.hpp"
    echo "int  b ;" >"$copy/build/b.hpp"  # not a source
    expect 0 fmt --check
    echo "int  a ;" >"$copy/include/a.hpp"
    expect 123 fmt --check
    err_has "a.hpp:1:"
    expect 0 fmt
    grep -qx "int a;" "$copy/include/a.hpp" || fail "fmt did not format"
    grep -qx "int  b ;" "$copy/build/b.hpp" || fail "fmt went into build/"
else
    echo "skipped: no clang-format here"
fi

# The quickstart trains all the same where Wikitext-2 cannot be had.
printf '#!/usr/bin/env bash\n' >"$copy/tools/cmake"
printf '#!/usr/bin/env bash\necho "trained with $*"\n' >"$copy/build/bin/quickstart"
chmod +x "$copy/tools/cmake" "$copy/build/bin/quickstart"
quickstart() {
    env -u GFLOW_DATA PATH="$copy/tools:$PATH" ${1:+GFLOW_DATA="$1"} "$bash" "$gflow" quickstart --minutes 1 >"$out" 2>"$err" ||
        fail "quickstart: exit code $?"
    out_has "trained with --minutes 1"
}
says_no_data() { grep -qF "no Wikitext-2: training on the text of this repository instead" "$out"; }
echo 'raise SystemExit("fetch: no network")' >"$copy/data/fetch"
quickstart ""
says_no_data || fail "the quickstart does not say that it goes without Wikitext-2"
quickstart "$work"
! says_no_data || fail "the quickstart fetches although GFLOW_DATA is set"
echo 'print("fetched")' >"$copy/data/fetch"
quickstart ""
out_has "fetched"
! says_no_data || fail "the quickstart complains after a fetch that worked"

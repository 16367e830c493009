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

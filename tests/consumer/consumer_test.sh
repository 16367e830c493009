#!/usr/bin/env bash
# Projects that use gflow in each of the ways that it offers: add_subdirectory, find_package after an install, and
# an include path without CMake. And: it is not built inside its source folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
consumers=$GFLOW_SOURCE_DIR/tests/consumer
export CXX

fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }
runs() { [[ $("$1") == "gflow 0."*" 6" ]] || fail "$1 says $("$1")"; }

echo "add_subdirectory"
quietly cmake -S "$consumers/add_subdirectory" -B "$work/subdirectory" -DGFLOW_SOURCE_DIR="$GFLOW_SOURCE_DIR"
quietly cmake --build "$work/subdirectory"
runs "$work/subdirectory/consumer"
[[ ! -e $work/subdirectory/gflow/gflowConfig.cmake ]] || fail "install rules reach a project that did not ask"

echo "find_package"
quietly cmake -S "$GFLOW_SOURCE_DIR" -B "$work/build" -DGFLOW_TESTS=OFF -DGFLOW_EXAMPLES=OFF -DGFLOW_BENCH=OFF \
    -DGFLOW_COMPILED=ON -DCMAKE_INSTALL_PREFIX="$work/prefix"
grep -q "no -march given" "$work/log" || fail "no hint that -march is missing"
quietly cmake --build "$work/build"
quietly cmake --install "$work/build"
components=""
for component in json wordpiece sentencepiece compiled; do
    [[ ! -e $work/prefix/share/cmake/gflow/gflow_$component.cmake ]] || components+="${components:+;}$component"
done
echo "  components: $components"
quietly cmake -S "$consumers/find_package" -B "$work/package" -DCMAKE_PREFIX_PATH="$work/prefix" "-DCOMPONENTS=$components"
quietly cmake --build "$work/package"
runs "$work/package/consumer"
if [[ $components == *compiled ]]; then
    [[ $(GFLOW_MAX_ISA=baseline "$work/package/consumer" instruction-set) == baseline ]] || fail "gflow::compiled does not choose"
fi
if cmake -S "$consumers/find_package" -B "$work/wrong" -DCMAKE_PREFIX_PATH="$work/prefix" -DCOMPONENTS=sound >"$work/log" 2>&1; then
    fail "an unknown component was found"
fi
grep -q "gflow::sound" "$work/log" || { cat "$work/log"; fail "the missing component is not named"; }

echo "include path"
# shellcheck disable=SC2086
quietly "$CXX" -std=c++20 -pthread -I "$work/prefix/include" $GFLOW_EIGEN_FLAGS "$consumers/main.cpp" "$consumers/other.cpp" \
    -o "$work/plain"
runs "$work/plain"

echo "inside the source folder"
mkdir "$work/source"
cp -r "$GFLOW_SOURCE_DIR"/{CMakeLists.txt,cmake,include} "$work/source"
if cmake -S "$work/source" -B "$work/source" >"$work/log" 2>&1; then
    fail "an in-source build was accepted"
fi
grep -q "not built inside its source folder" "$work/log" || { cat "$work/log"; fail "the refusal is not clear"; }

#!/usr/bin/env bash
# labels: long
# Our headers raise no warning, whatever compiles them: both compilers, without and with all optimisation.
set -euo pipefail
unit=$GFLOW_BUILD_DIR/tests/headers/all_headers.cpp
status=0
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || { echo "skipped: no $compiler here"; continue; }
    for flags in "-O0" "-O3 -march=native"; do
        echo "$compiler $flags"
        # shellcheck disable=SC2086
        "$compiler" -std=c++20 $flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -pthread \
            -I "$GFLOW_SOURCE_DIR/include" $GFLOW_EIGEN_FLAGS -c "$unit" -o /dev/null || status=1
    done
done
exit $status

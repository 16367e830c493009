#!/usr/bin/env bash
# What the units of gflow::compiled share by name: nothing that is compiled for more than one instruction set. And: a
# wrong GFLOW_MAX_ISA is refused.
set -euo pipefail

out=$(mktemp)
trap 'rm -f "$out"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

case $(uname -m) in
    x86_64) ;;
    *) echo "skipped: gflow::compiled is for x86-64"; exit 0 ;;
esac

# Functions that a linker would merge (W, V, u) must stand in the namespace of their instruction set. A sanitizer's own
# do not come from here.
symbols=$(nm -C --defined-only "$GFLOW_COMPILED_LIBRARY")
for isa in baseline avx2 avx512 avx512_bf16 amx_bf16; do
    grep -q "gflow::kernels::$isa::detail::multiply_block<float, float>" <<<"$symbols" || fail "no product for $isa"
    [[ $(grep -c " [DR] gflow::kernels::compiled::$isa\$" <<<"$symbols") -eq 1 ]] || fail "no table for $isa"
done
objects=$(nm -C --defined-only "$GFLOW_COMPILED_LIBRARY" | awk '/\.o:$/ { file = $0 } / [WVu] / && file ~ /^micro_kernels/ { print file, $0 }')
[[ -n $objects ]] || fail "the listing of the library was not understood"
shared=$(grep -vE "gflow::kernels::(baseline|avx2|avx512|avx512_bf16|amx_bf16)::" <<<"$objects" || true)
if [[ -z $(grep -E "__asan|__ubsan" <<<"$symbols$(nm "$GFLOW_COMPILED_LIBRARY")" || true) ]]; then
    [[ -z $shared ]] || fail "merged between instruction sets: $shared"
fi

if GFLOW_MAX_ISA=nonsense "$GFLOW_TEST_COMPILED" >"$out" 2>&1; then
    fail "GFLOW_MAX_ISA=nonsense was accepted"
fi
tr -s ' \n' ' ' <"$out" | grep -q "GFLOW_MAX_ISA must be baseline, avx2, avx512, avx512_bf16 or amx_bf16" || fail "the refusal is not clear"

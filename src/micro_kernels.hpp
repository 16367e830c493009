#pragma once
// What the units of gflow::compiled know of each other.
#include <gflow/kernels/micro_kernel.hpp>

namespace gflow::kernels::compiled {

extern const MicroKernels baseline, avx2, avx512, avx512_bf16, amx_bf16;

}  // namespace gflow::kernels::compiled

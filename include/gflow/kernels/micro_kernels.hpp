#pragma once
#if defined(GFLOW_COMPILED_KERNELS)
#include <gflow/config/isa.hpp>
#include <gflow/kernels/micro_kernel.hpp>
#else
#include <gflow/kernels/amx_permission.hpp>
#include <gflow/kernels/block_product.hpp>
#endif

#include <string_view>
#include <type_traits>

namespace gflow::kernels {

#if defined(GFLOW_COMPILED_KERNELS)
/// The micro-kernels of the best instruction set that this processor has, and GFLOW_MAX_ISA allows. Part of the
/// compiled library gflow::compiled.
/// @throws usage_error if GFLOW_MAX_ISA names no instruction set
const MicroKernels& best_micro_kernels();
#endif

inline namespace GFLOW_ISA {

/// The micro-kernels that matrix products use: those of the instruction set that this unit is compiled for, or, in a
/// program that links gflow::compiled, those of the processor that it runs on.
inline const MicroKernels& micro_kernels() {
#if defined(GFLOW_COMPILED_KERNELS)
    static const MicroKernels& best = best_micro_kernels();
    return best;
#elif defined(GFLOW_HAS_AMX)
    static const MicroKernels& best = may_use_amx() ? own_micro_kernels : vector_micro_kernels;
    return best;
#else
    return own_micro_kernels;
#endif
}

/// The one for products of type T whose factors are packed as Operand.
template <class T, class Operand = T>
const MicroKernel<T, Operand>& micro_kernel() {
    if constexpr (std::is_same_v<T, double>)
        return micro_kernels().float64;
    else if constexpr (std::is_same_v<Operand, Bfloat16Pair>)
        return micro_kernels().bfloat16;
    else
        return micro_kernels().float32;
}

/// The instruction set of matrix products: "baseline", "avx2", "avx512", "avx512_bf16" or
/// "amx_bf16".
inline const char* instruction_set() { return micro_kernels().instruction_set; }

/// Whether it multiplies bfloat16. Elsewhere bfloat16 products give the same numbers at less than the speed of float32.
inline bool multiplies_bfloat16() { return std::string_view(instruction_set()).ends_with("_bf16"); }

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

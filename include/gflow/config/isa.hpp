#pragma once
/// GFLOW_ISA names the instruction set that this translation unit is compiled for. The kernels live in an inline
/// namespace of that name, so that units compiled with different -march flags can be linked into one program. Those of
/// units that link gflow::compiled differ from the others (see kernels/micro_kernels.hpp), so their name does too.

#define GFLOW_COMPILED_NAME(isa) isa##_compiled
#if defined(GFLOW_COMPILED_KERNELS)
#define GFLOW_ISA_NAME(isa) GFLOW_COMPILED_NAME(isa)
#else
#define GFLOW_ISA_NAME(isa) isa
#endif

// Linux lends the tile registers of AMX on request (kernels/amx_permission.hpp); elsewhere they are left alone.
// clang++ before 15 spells the flags without the second underscore.
#if (defined(__AMX_BF16__) || defined(__AMXBF16__)) && defined(__AVX512BF16__) && defined(__linux__)
#define GFLOW_HAS_AMX
#endif

#if defined(__AVX512BF16__)
#define GFLOW_VECTOR_ISA avx512_bf16
#elif defined(__AVX512F__)
#define GFLOW_VECTOR_ISA avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define GFLOW_VECTOR_ISA avx2
#else
#define GFLOW_VECTOR_ISA baseline
#endif

#if defined(GFLOW_HAS_AMX)
#define GFLOW_ISA GFLOW_ISA_NAME(amx_bf16)
#else
#define GFLOW_ISA GFLOW_ISA_NAME(GFLOW_VECTOR_ISA)
#endif

#define GFLOW_QUOTED(name) #name
#define GFLOW_QUOTE(name) GFLOW_QUOTED(name)

namespace gflow::kernels {
inline namespace GFLOW_ISA {
inline constexpr const char* isa_name = GFLOW_QUOTE(GFLOW_ISA);
/// The same without the matrix extension AMX.
inline constexpr const char* vector_isa_name = GFLOW_QUOTE(GFLOW_VECTOR_ISA);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

#undef GFLOW_QUOTE
#undef GFLOW_QUOTED

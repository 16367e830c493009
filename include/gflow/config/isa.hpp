#pragma once
/// GFLOW_ISA names the instruction set that this translation unit is compiled for. The kernels live in an inline
/// namespace of that name, so that units compiled with different -march flags can be linked into one program. Those of
/// units that link gflow::compiled differ from the others (see kernels/micro_kernels.hpp), so their name does too.

#if defined(GFLOW_COMPILED_KERNELS)
#define GFLOW_ISA_NAME(isa) isa##_compiled
#else
#define GFLOW_ISA_NAME(isa) isa
#endif

#if defined(__AVX512BF16__)
#define GFLOW_ISA GFLOW_ISA_NAME(avx512_bf16)
#elif defined(__AVX512F__)
#define GFLOW_ISA GFLOW_ISA_NAME(avx512)
#elif defined(__AVX2__) && defined(__FMA__)
#define GFLOW_ISA GFLOW_ISA_NAME(avx2)
#else
#define GFLOW_ISA GFLOW_ISA_NAME(baseline)
#endif

#define GFLOW_QUOTED(name) #name
#define GFLOW_QUOTE(name) GFLOW_QUOTED(name)

namespace gflow::kernels {
inline namespace GFLOW_ISA {
inline constexpr const char* isa_name = GFLOW_QUOTE(GFLOW_ISA);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

#undef GFLOW_QUOTE
#undef GFLOW_QUOTED

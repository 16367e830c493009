#pragma once
/// GFLOW_ISA names the instruction set that this translation unit is compiled for. The kernels live in an inline
/// namespace of that name, so that units compiled with different -march flags can be linked into one program.

#if defined(__AVX512BF16__)
#define GFLOW_ISA avx512_bf16
#elif defined(__AVX512F__)
#define GFLOW_ISA avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define GFLOW_ISA avx2
#else
#define GFLOW_ISA baseline
#endif

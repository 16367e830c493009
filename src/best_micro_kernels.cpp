// Which of the compiled instruction sets is used. Compiled for any processor.
#include "micro_kernels.hpp"

#include <gflow/core/errors.hpp>
#include <gflow/kernels/amx_permission.hpp>
#include <gflow/kernels/micro_kernels.hpp>

#include <array>
#include <cstdlib>
#include <string_view>

namespace gflow::kernels {
namespace {

struct Candidate {
    const MicroKernels& kernels;
    bool usable;  // by this processor and system
};

/// From the least to the best; a processor that has one has all those before it.
std::array<Candidate, 5> candidates() {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const bool avx512_bf16 = avx512 && __builtin_cpu_supports("avx512bf16");
    return {Candidate{compiled::baseline, true}, Candidate{compiled::avx2, avx2}, Candidate{compiled::avx512, avx512},
            Candidate{compiled::avx512_bf16, avx512_bf16}, Candidate{compiled::amx_bf16, avx512_bf16 && may_use_amx()}};
}

}  // namespace

const MicroKernels& best_micro_kernels() {
    const char* text = std::getenv("GFLOW_MAX_ISA");
    const std::string_view most = text == nullptr ? "" : text;
    const MicroKernels* best = nullptr;
    for (const Candidate& candidate : candidates()) {
        if (candidate.usable) best = &candidate.kernels;
        if (candidate.kernels.instruction_set == most) return *best;
    }
    require<usage_error>(most.empty(), "best_micro_kernels",
                         "GFLOW_MAX_ISA must be baseline, avx2, avx512, avx512_bf16 or amx_bf16",
                         {{"GFLOW_MAX_ISA", most}});
    return *best;
}

}  // namespace gflow::kernels

#pragma once
#include <gflow/core/matmul_precision.hpp>
#include <gflow/kernels/micro_kernels.hpp>
#include <gflow/train/choices.hpp>

#include <string>

namespace gflow {

/// Sets float32_matmul_precision by its name.
/// @param setting  its name, for errors
/// @return         what is to be said of it: empty, or that products have no instruction for it
/// @throws         usage_error listing the names
inline std::string use_precision(const std::string& setting, const std::string& name) {
    const Precision precision = choice_from_text<Precision>(setting, name);
    set_float32_matmul_precision(precision == Precision::bf16 ? bfloat16 : float32);
    if (precision == Precision::fp32 || kernels::multiplies_bfloat16()) return "";
    return setting + " " + name + ": products use " + kernels::instruction_set() +
           ", which does not multiply bfloat16 (avx512_bf16 and amx_bf16 do), so they give the same numbers more "
           "slowly "
           "than fp32";
}

}  // namespace gflow

#pragma once
#include <gflow/core/matmul_precision.hpp>
#include <gflow/train/choices.hpp>

#include <string>

namespace gflow {

/// Sets float32_matmul_precision by its name.
/// @param setting  its name, for errors
/// @return         what is to be said of it: empty, or that this build has no instruction for it
/// @throws         usage_error listing the names
inline std::string use_precision(const std::string& setting, const std::string& name) {
    const Precision precision = choice_from_text<Precision>(setting, name);
    set_float32_matmul_precision(precision == Precision::bf16 ? bfloat16 : float32);
    if (precision == Precision::fp32 || has_bfloat16_dot_product()) return "";
    return setting + " " + name +
           ": this build has no bfloat16 dot product (AVX512-BF16), so products give the same numbers more slowly than "
           "fp32";
}

}  // namespace gflow

#pragma once
#include <gflow/ops/common.hpp>

namespace gflow {

struct AttentionOptions {
    Index heads = 1;
    double dropout = 0;  ///< probability of dropping an attention weight; 0 takes no random numbers
};

namespace detail {

/// The columns of one head, where all of them have `width`.
/// @throws shape_error if width does not split into heads;  usage_error for a bad dropout
inline Index head_size(const char* op, Index width, const AttentionOptions& options) {
    require(options.heads >= 1 && width % options.heads == 0, op, "width must split evenly into heads",
            {{"width", width}, {"heads", options.heads}});
    require<usage_error>(options.dropout >= 0 && options.dropout < 1, op, "dropout must be in [0, 1)",
                         {{"dropout", options.dropout}});
    return width / options.heads;
}

}  // namespace detail

}  // namespace gflow

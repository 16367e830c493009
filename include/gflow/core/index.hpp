#pragma once
#include <cstdint>

namespace gflow {

/// Sizes and positions: signed, 64 bits, so that differences and tensors beyond 2³¹ elements are right.
using Index = std::int64_t;

}  // namespace gflow

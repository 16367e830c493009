#pragma once
#include <gflow/core/dtype.hpp>
#include <gflow/core/errors.hpp>

#include <atomic>

namespace gflow {

namespace detail {
inline std::atomic<DType> matmul_precision{DType::float32};
}

/// What float32 matrix products multiply: float32, or float32 rounded to bfloat16. They add up in float32 either way.
inline DType float32_matmul_precision() { return detail::matmul_precision.load(std::memory_order_relaxed); }

/// Sets it for all threads, for the products that begin after it. bfloat16 keeps 8 bits of each operand; whether it
/// takes less time depends on the processor (docs/performance.md). Tensors, parameters, gradients
/// and every sum stay float32; products with fewer than 8 rows, columns or terms stay so too.
/// @throws dtype_error unless precision is float32 or bfloat16
inline void set_float32_matmul_precision(DType precision) {
    require<dtype_error>(precision == float32 || precision == bfloat16, "set_float32_matmul_precision",
                         "float32 products multiply float32 or bfloat16", {{"precision", name_of(precision)}});
    detail::matmul_precision.store(precision, std::memory_order_relaxed);
}

}  // namespace gflow

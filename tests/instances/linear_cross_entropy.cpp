#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/linear_cross_entropy.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
#define GFLOW_LINEAR_CROSS_ENTROPY(T, Id)                                                                     \
    template double linear_cross_entropy<T, Id>(Matrix<const T>, Matrix<const T>, Vector<const Id>, Index, T, \
                                                const HeadGradients<T>&);
GFLOW_LINEAR_CROSS_ENTROPY(float, std::int32_t)
GFLOW_LINEAR_CROSS_ENTROPY(float, std::int64_t)
GFLOW_LINEAR_CROSS_ENTROPY(double, std::int32_t)
GFLOW_LINEAR_CROSS_ENTROPY(double, std::int64_t)
#undef GFLOW_LINEAR_CROSS_ENTROPY
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

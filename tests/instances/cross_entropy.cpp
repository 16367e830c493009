#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/cross_entropy.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
#define GFLOW_CROSS_ENTROPY(T, Id)                                                                            \
    template void cross_entropy<T, Id>(Matrix<const T>, Vector<const Id>, Index, Matrix<T>, Vector<T>);       \
    template void cross_entropy_backward<T, Id>(Matrix<const T>, Vector<const Id>, Index, Matrix<const T>, T, \
                                                Matrix<T>, bool);
GFLOW_CROSS_ENTROPY(float, std::int32_t)
GFLOW_CROSS_ENTROPY(float, std::int64_t)
GFLOW_CROSS_ENTROPY(double, std::int32_t)
GFLOW_CROSS_ENTROPY(double, std::int64_t)
#undef GFLOW_CROSS_ENTROPY
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

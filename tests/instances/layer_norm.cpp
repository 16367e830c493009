#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/layer_norm.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
#define GFLOW_LAYER_NORM(T)                                                                                       \
    template void layer_norm<T>(Matrix<const T>, Vector<const T>, Vector<const T>, double, Matrix<T>, Matrix<T>); \
    template void add_layer_norm<T>(Matrix<const T>, Matrix<const T>, Vector<const T>, Vector<const T>, double,   \
                                    Matrix<T>, Matrix<T>, Matrix<T>);                                             \
    template void layer_norm_backward<T>(Matrix<const T>, Vector<const T>, Matrix<const T>, Matrix<const T>,      \
                                         const std::array<SummandGradient<T>, 2>&, Vector<T>, Vector<T>);
GFLOW_LAYER_NORM(float)
GFLOW_LAYER_NORM(double)
#undef GFLOW_LAYER_NORM
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

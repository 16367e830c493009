#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/layer_norm.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void layer_norm<float>(Matrix<const float>, Vector<const float>, Vector<const float>, double, Matrix<float>,
                                Matrix<float>);
template void layer_norm<double>(Matrix<const double>, Vector<const double>, Vector<const double>, double,
                                 Matrix<double>, Matrix<double>);
template void layer_norm_backward<float>(Matrix<const float>, Vector<const float>, Matrix<const float>,
                                         Matrix<const float>, Matrix<float>, bool, Vector<float>, Vector<float>);
template void layer_norm_backward<double>(Matrix<const double>, Vector<const double>, Matrix<const double>,
                                          Matrix<const double>, Matrix<double>, bool, Vector<double>, Vector<double>);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

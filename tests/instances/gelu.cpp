#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/gelu.hpp>

namespace gflow::kernels {
template void gelu<GeluExact, float>(Vector<const float>, Vector<float>);
template void gelu<GeluExact, double>(Vector<const double>, Vector<double>);
template void gelu<GeluTanh, float>(Vector<const float>, Vector<float>);
template void gelu<GeluTanh, double>(Vector<const double>, Vector<double>);
template void gelu_backward<GeluExactSlope, float>(Vector<const float>, Vector<const float>, Vector<float>, bool);
template void gelu_backward<GeluExactSlope, double>(Vector<const double>, Vector<const double>, Vector<double>, bool);
template void gelu_backward<GeluTanhSlope, float>(Vector<const float>, Vector<const float>, Vector<float>, bool);
template void gelu_backward<GeluTanhSlope, double>(Vector<const double>, Vector<const double>, Vector<double>, bool);
template void gelu_and_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, Matrix<float>,
                                       Vector<float>);
template void gelu_and_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, Matrix<double>,
                                        Vector<double>);
}  // namespace gflow::kernels

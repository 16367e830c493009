#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/softmax.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void softmax<float>(Matrix<const float>, Matrix<float>);
template void softmax<double>(Matrix<const double>, Matrix<double>);
template void softmax_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void softmax_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);
template void log_softmax<float>(Matrix<const float>, Matrix<float>);
template void log_softmax<double>(Matrix<const double>, Matrix<double>);
template void log_softmax_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void log_softmax_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

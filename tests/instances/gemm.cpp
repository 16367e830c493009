#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/gemm.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void eigen_gemm<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
template void eigen_gemm<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
template void packed_gemm<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
template void packed_gemm<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

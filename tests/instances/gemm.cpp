#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/gemm.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void eigen_gemm<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
template void eigen_gemm<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
template class PackedFactor<float>;
template class PackedFactor<double>;
template void multiply_packed<float>(Factor<float>, const PackedFactor<float>&, Index, Matrix<float>, Onto);
template void multiply_packed<double>(Factor<double>, const PackedFactor<double>&, Index, Matrix<double>, Onto);
template class PackedFactor<float, Side::left>;
template class PackedFactor<double, Side::left>;
template void multiply_packed<float>(const PackedLeft<float>&, Index, const PackedFactor<float>&, Index, Index,
                                     Matrix<float>, Onto);
template void multiply_packed<double>(const PackedLeft<double>&, Index, const PackedFactor<double>&, Index, Index,
                                      Matrix<double>, Onto);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

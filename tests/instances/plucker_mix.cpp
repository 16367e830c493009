#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/plucker_mix.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void plucker_mix<float>(const MixShape&, Matrix<const float>, Matrix<const float>, Matrix<const float>,
                                 Vector<const float>, Matrix<float>);
template void plucker_mix<double>(const MixShape&, Matrix<const double>, Matrix<const double>, Matrix<const double>,
                                  Vector<const double>, Matrix<double>);
template void plucker_mix_backward<float>(const MixShape&, Matrix<const float>, Matrix<const float>,
                                          Matrix<const float>, Matrix<const float>, const MixGradients<float>&);
template void plucker_mix_backward<double>(const MixShape&, Matrix<const double>, Matrix<const double>,
                                           Matrix<const double>, Matrix<const double>, const MixGradients<double>&);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

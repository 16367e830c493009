#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/attention.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void attention<float>(const PackedAttentionShape&, Matrix<const float>, Matrix<float>, Matrix<float>);
template void attention<double>(const PackedAttentionShape&, Matrix<const double>, Matrix<double>, Matrix<double>);
template void attention_backward<float>(const PackedAttentionShape&, Matrix<const float>, Matrix<const float>,
                                        Matrix<const float>, Matrix<const float>, Matrix<float>);
template void attention_backward<double>(const PackedAttentionShape&, Matrix<const double>, Matrix<const double>,
                                         Matrix<const double>, Matrix<const double>, Matrix<double>);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

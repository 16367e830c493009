#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/causal_attention.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void causal_attention<float>(const AttentionShape&, Matrix<const float>, Matrix<float>, Vector<float>);
template void causal_attention<double>(const AttentionShape&, Matrix<const double>, Matrix<double>, Vector<double>);
template void causal_attention_backward<float>(const AttentionShape&, Matrix<const float>, Matrix<const float>,
                                               Vector<const float>, Matrix<const float>, Matrix<float>);
template void causal_attention_backward<double>(const AttentionShape&, Matrix<const double>, Matrix<const double>,
                                                Vector<const double>, Matrix<const double>, Matrix<double>);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

#undef GFLOW_EXTERN_TEMPLATES
#include <gflow/kernels/blend.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
template void blend<float>(Vector<const float>, Vector<const float>, Vector<const float>, Vector<float>);
template void blend<double>(Vector<const double>, Vector<const double>, Vector<const double>, Vector<double>);
template void blend_backward<float>(Vector<const float>, Vector<const float>, Vector<const float>, Vector<const float>,
                                    BlendGradient<float>, BlendGradient<float>, BlendGradient<float>);
template void blend_backward<double>(Vector<const double>, Vector<const double>, Vector<const double>,
                                     Vector<const double>, BlendGradient<double>, BlendGradient<double>,
                                     BlendGradient<double>);
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

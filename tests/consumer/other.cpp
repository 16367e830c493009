#include <gflow/ops/arithmetic.hpp>

gflow::Tensor twice(const gflow::Tensor& x);
gflow::Tensor twice(const gflow::Tensor& x) { return x + x; }

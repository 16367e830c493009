#pragma once
#include <gflow/ops/common.hpp>

namespace gflow {

/// A copy in fresh memory; an undefined tensor stays undefined. Any dtype.
/// For a copy outside the graph, clone(x.detach()).
inline Tensor clone(const Tensor& x) {
    // dx = dy
    return record("clone", {x}, detail::copied(x), {},
                  [](const Saved&, const Tensor& dy, Gradients& d) { d.add(0, dy); });
}

}  // namespace gflow

#pragma once
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/index_select.hpp>
#include <gflow/ops/linear.hpp>
#include <gflow/ops/plucker_mix.hpp>
#include <gflow/ops/reduce.hpp>
#include <gflow/ops/slice.hpp>
#include <gflow/ops/unary.hpp>
#include <gflow/ops/where.hpp>

namespace gflow {

namespace detail {

/// u ∧ v over the last axis: u_i v_j − u_j v_i for i < j, in lexicographic order.  [..., r] → [..., C(r,2)]
inline Tensor wedge(const Tensor& u, const Tensor& v) {
    std::vector<Index> first, second;
    for (Index i = 0; i < u.size(-1); ++i)
        for (Index j = i + 1; j < u.size(-1); ++j) {
            first.push_back(i);
            second.push_back(j);
        }
    const Tensor i = from_vector(first), j = from_vector(second);
    return index_select(u, -1, i) * index_select(v, -1, j) - index_select(u, -1, j) * index_select(v, -1, i);
}

/// p / ‖p‖, with zeros where the two states span no plane that can be resolved.
inline Tensor on_unit_sphere(const Tensor& p, const Tensor& u, const Tensor& v) {
    const auto squares = [](const Tensor& x) { return sum(x * x, {-1}, true); };
    const Tensor size = squares(p);
    Tensor resolved = empty(size.shape(), uint8);
    visit_floating("plucker_mix_reference", p.dtype(), [&]<class T>(T) {
        const Tensor u2 = squares(u), v2 = squares(v);
        for (Index i = 0; i < size.numel(); ++i) {
            const T bound = static_cast<T>(kernels::unresolved_angle) * std::sqrt(u2.template data<T>()[i]) *
                            std::sqrt(v2.template data<T>()[i]);
            resolved.mutable_data<std::uint8_t>()[i] = !(std::sqrt(size.template data<T>()[i]) <= bound);
        }
    });
    // The root of an unresolved plane is not taken: its slope is infinite.
    const Tensor norm = sqrt(where(resolved, size, full(size.shape(), 1, size.dtype())));
    return where(resolved, p / norm, zeros_like(p));
}

}  // namespace detail

/// plucker_mix in the order of operations of arXiv 2512.19428 §3, made of basic ops: for each offset the C(r,2) minors
/// of each pair, their norm, the projection; then the mean. The reference that the fused op is tested against, for
/// look-back offsets; far slower, and it keeps every plane for backward.
inline Tensor plucker_mix_reference(const Tensor& z, const Tensor& weight, const Tensor& bias,
                                    const PluckerMixOptions& options, const Tensor& offset_weights = {}) {
    detail::check_plucker_mix(z, weight, bias, offset_weights, options);
    const Index batch = z.size(0), length = z.size(1), rank = z.size(2) / options.heads;
    const Index planes = kernels::plucker_size(rank);
    Tensor g = zeros({batch, length, weight.size(0)}, z.dtype());
    Tensor mean_weights = offset_weights;
    if (!offset_weights.defined()) {
        const kernels::MixShape shape = detail::mix_shape(z, options);
        mean_weights = zeros({length, static_cast<Index>(options.offsets.size())}, z.dtype());
        visit_floating("plucker_mix_reference", z.dtype(), [&]<class T>(T) {
            for (Index t = 0; t < length; ++t)
                for (T& w : write_rows<T>(mean_weights)[t])
                    w = shape.mean ? T(1) / static_cast<T>(std::max<Index>(1, shape.count_valid(t))) : T(1);
        });
    }
    for (std::size_t which = 0; which < options.offsets.size(); ++which) {
        const Index offset = options.offsets[which];
        require<usage_error>(offset > 0, "plucker_mix_reference", "offsets must look back", {{"offset", offset}});
        if (offset >= length) continue;
        const Tensor u = slice(z, 1, 0, length - offset), v = slice(z, 1, offset, length);
        Tensor projected;
        for (Index head = 0; head < options.heads; ++head) {
            const Tensor u_head = slice(u, 2, head * rank, (head + 1) * rank);
            const Tensor v_head = slice(v, 2, head * rank, (head + 1) * rank);
            Tensor p = detail::wedge(u_head, v_head);
            if (options.normalize == Normalize::unit) p = detail::on_unit_sphere(p, u_head, v_head);
            const Tensor part = linear(p, slice(weight, 1, head * planes, (head + 1) * planes));
            projected = projected.defined() ? projected + part : part;
        }
        const auto column = static_cast<Index>(which);
        const Tensor w = slice(mean_weights, -1, column, column + 1);
        const Tensor w_valid = slice(w, -2, offset, length);
        g = g + concat({zeros({batch, offset, weight.size(0)}, z.dtype()), projected * w_valid}, 1);
    }
    return bias.defined() ? g + bias : g;
}

}  // namespace gflow

#pragma once
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/column_sums.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/kernels/mix_geometry.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

/// s∧v̂ of positions begin … end−1, every head's planes side by side.  p: [end − begin, heads·C(rank,2)].
template <class T>
void mix_planes(const MixShape& shape, const MixGeometry<T>& geometry, Index begin, Index end, Matrix<T> p) {
    const Index r = shape.rank, planes = plucker_size(r);
    const Scratch<T> space(2 * r);
    const Vector<T> s(space.data(), r), y(space.data() + r, r);
    for (Index position = begin; position < end; ++position)
        for (Index head = 0; head < shape.heads; ++head) {
            geometry.mix(position, head, s, y, [](std::size_t, Span<T>) {});
            wedge<T>(s, geometry.v_hat(position, head), {p[position - begin].data() + head * planes, planes});
        }
}

}  // namespace detail

/// g = (s ∧ v̂)·Wᵀ + b: one wedge and one row of a matrix product per position, whatever the number of offsets
/// (arXiv 2512.19428 §3, factorised: docs/plucker.md).  The planes exist a tile at a time.
/// z: [positions, heads·rank], weights: [positions or length, offsets] or none, w: [d, heads·C(rank,2)], b: [d] or
/// none, g: [n, d] for the last n positions: all of them, or the one that a decoder needs.
template <class T>
void plucker_mix(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights, Matrix<const T> w,
                 Vector<const T> b, Matrix<T> g) {
    const detail::MixGeometry<T> geometry(shape, z, weights);
    const Index first = shape.positions() - g.rows();
    // For a decoder's step packing W would take longer than the product.
    const bool few = detail::is_thin(g.rows(), w.rows(), w.cols());
    PackedFactor<T> packed_w(few ? 0 : w.cols(), few ? 0 : w.rows());
    if (!few) packed_w.pack_on_all_threads(transposed(w));
    parallel_for(g.rows(), detail::mix_tile, [&](Index begin, Index end) {
        const Scratch<T> memory((end - begin) * shape.planes());
        const Matrix<T> p = memory.rows(end - begin, shape.planes());
        detail::mix_planes(shape, geometry, first + begin, first + end, p);
        const Matrix<T> out = g.row_range(begin, end);
        if (few)
            gemm_tile<T>(p, transposed(w), out, Onto::overwrite);
        else
            multiply_packed<T>(p, packed_w, 0, out, Onto::overwrite);
        if (b.data() == nullptr) return;
        for (Index row = 0; row < out.rows(); ++row) array(out[row]) += array(b);
    });
}

/// Where plucker_mix_backward adds its gradients; parts without memory are not wanted.
template <class T>
struct MixGradients {
    Matrix<T> dz;        ///< [positions, heads·rank]
    Matrix<T> dweights;  ///< [positions, offsets]: one row for each position, also where the weights are shared
    Matrix<T> dw;        ///< [d, heads·C(rank,2)]
    Vector<T> db;        ///< [d]
};

namespace detail {

/// The pairs of one position as the later state: ∂w_Δ = ŷ_Δ·a, what they pass to their partners, and their part of ∂v̂,
///     dv −= Σ_Δ along_Δ ∂û_Δ,    ∂û_Δ = w_Δ (a − (ŷ_Δ·a) ŷ_Δ)/norm_Δ.
/// As a·v̂ = v̂ᵀQv̂ = 0, ŷ·a is û·a/norm; and of ŷ the part along v̂ may be left out, which ∂v will not have.
template <class T>
void mix_backward_pairs(const MixShape& shape, const MixGeometry<T>& geometry, const MixStates<T>& states,
                        Index position, Index head, Vector<const T> a, Vector<T> dv, Matrix<T> dweights) {
    T along_a(0);
    for (std::size_t which = 0; which < shape.offsets.size(); ++which) {
        const Index offset = shape.offsets[which];
        if (!shape.valid(position % shape.length, offset)) continue;
        const auto [along, norm] = states.span(position, head, which);
        Pull<T>& pull = states.pull(position, head, which);
        pull = {T(0), T(0), along};
        if (norm == T(0)) continue;
        const Vector<const T> u_hat = geometry.v_hat(position - offset, head);
        const T y_hat_a = vector(u_hat).dot(vector(a)) / norm;
        if (dweights.data() != nullptr)
            dweights[position][static_cast<Index>(which)] += offset < 0 ? -y_hat_a : y_hat_a;
        pull.of_a = geometry.weight(position, which) / norm;
        if (!shape.unit) continue;  // then y = u does not depend on v
        pull.of_u = pull.of_a * y_hat_a / norm;
        along_a += along * pull.of_a;
        array(dv) += (along * pull.of_u) * array(u_hat);
    }
    array(dv) -= along_a * array(a);
}

/// With q = Wᵀ dg and Q its antisymmetric matrix: a = Q v̂ = ∂s for each position, and the part of dz that a position
/// gets as the later state:
///     ∂v̂ = −Q s − Σ_Δ along_Δ ∂û_Δ,    ∂v = (∂v̂ − (v̂·∂v̂) v̂)/|v|
template <class T>
void mix_backward_later(const MixShape& shape, const MixGeometry<T>& geometry, const MixStates<T>& states,
                        Matrix<const T> w, Matrix<const T> dg, Matrix<T> a, const MixGradients<T>& grad) {
    PackedFactor<T> packed_w(w.rows(), w.cols());
    packed_w.pack_on_all_threads(w);
    parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
        const Index rows = end - begin, r = shape.rank, planes = plucker_size(r);
        const Scratch<T> memory(rows * shape.planes()), space(r);
        const Matrix<T> q = memory.rows(rows, shape.planes());
        const Vector<T> dv(space);
        multiply_packed<T>(dg.row_range(begin, end), packed_w, 0, q, Onto::overwrite);
        for (Index position = begin; position < end; ++position) {
            for (Index head = 0; head < shape.heads; ++head) {
                const Vector<const T> q_head(q[position - begin].data() + head * planes, planes);
                const Vector<T> a_head(a[position].data() + head * r, r);
                const Vector<const T> v_hat = geometry.v_hat(position, head);
                antisymmetric_product<T>(q_head, v_hat, a_head);
                antisymmetric_product<T>(q_head, states.s(position, head), dv);
                array(dv) = -array(dv);
                mix_backward_pairs<T>(shape, geometry, states, position, head, a_head, dv, grad.dweights);
                const T length = geometry.length(position, head);
                if (grad.dz.data() == nullptr || length == T(0)) continue;
                if (shape.unit) array(dv) = (array(dv) - vector(v_hat).dot(vector(dv)) * array(v_hat)) / length;
                array(grad.dz[position].data() + head * r, r) += array(dv);
            }
        }
    });
}

/// The part of dz that a position gets as the partner of others: it collects ∂û from each of them, so that no two
/// threads write to one place.  ∂u = ∂û/|u|.
template <class T>
void mix_backward_partner(const MixShape& shape, const MixGeometry<T>& geometry, const MixStates<T>& states,
                          Matrix<const T> a, Matrix<T> dz) {
    parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
        const Index r = shape.rank;
        const Scratch<T> space(r);
        const Vector<T> du(space);
        for (Index position = begin; position < end; ++position)
            for (Index head = 0; head < shape.heads; ++head) {
                const T length = geometry.length(position, head);
                if (length == T(0)) continue;
                T of_u(0);
                array(du).setZero();
                for (std::size_t which = 0; which < shape.offsets.size(); ++which) {
                    const Index user = position + shape.offsets[which];
                    if (!shape.valid(position % shape.length, -shape.offsets[which])) continue;
                    const Pull<T> pull = states.pull(user, head, which);
                    array(du) += pull.of_a * array(a[user].data() + head * r, r) +
                                 (pull.of_u * pull.along) * array(geometry.v_hat(user, head));
                    of_u += pull.of_u;
                }
                array(du) -= of_u * array(geometry.v_hat(position, head));
                array(dz[position].data() + head * r, r) += array(du) / length;
            }
    });
}

/// dW += dgᵀ·(s∧v̂), the planes rebuilt a stretch of positions at a time.
template <class T>
void mix_backward_weight(const MixShape& shape, const MixGeometry<T>& geometry, const MixStates<T>& states,
                         Matrix<const T> dg, Matrix<T> dw) {
    constexpr Index stretch = 512;  // 512 × 496 float32 are 1 MiB: they stay in the last-level cache
    const Index planes = plucker_size(shape.rank);
    const Scratch<T> memory(std::min(stretch, shape.positions()) * shape.planes());
    for (Index begin = 0; begin < shape.positions(); begin += stretch) {
        const Index end = std::min(begin + stretch, shape.positions());
        const Matrix<T> p = memory.rows(end - begin, shape.planes());
        parallel_for(end - begin, mix_tile / 4, [&](Index first, Index last) {
            for (Index i = first; i < last; ++i)
                for (Index head = 0; head < shape.heads; ++head)
                    wedge<T>(states.s(begin + i, head), geometry.v_hat(begin + i, head),
                             {p[i].data() + head * planes, planes});
        });
        gemm<T>(transposed(dg.row_range(begin, end)), p, dw, Onto::add);
    }
}

}  // namespace detail

/// Adds the gradients of plucker_mix to those that are wanted (docs/plucker.md derives them). Nothing of the size of
/// the planes is kept: they are rebuilt a tile at a time beside the product that eats them, from states of size rank.
template <class T>
void plucker_mix_backward(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights, Matrix<const T> w,
                          Matrix<const T> dg, const MixGradients<T>& grad) {
    const detail::MixGeometry<T> geometry(shape, z, weights);
    const detail::MixStates<T> states(shape, geometry);
    if (grad.dz.data() != nullptr || grad.dweights.data() != nullptr) {
        const Scratch<T> a(shape.positions() * shape.heads * shape.rank);
        const Matrix<T> a_rows = a.rows(shape.positions(), shape.heads * shape.rank);
        detail::mix_backward_later<T>(shape, geometry, states, w, dg, a_rows, grad);
        if (grad.dz.data() != nullptr) detail::mix_backward_partner<T>(shape, geometry, states, a_rows, grad.dz);
    }
    if (grad.dw.data() != nullptr) detail::mix_backward_weight<T>(shape, geometry, states, dg, grad.dw);
    if (grad.db.data() != nullptr) column_sums<T>(dg, grad.db);
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void plucker_mix<float>(const MixShape&, Matrix<const float>, Matrix<const float>, Matrix<const float>,
                                        Vector<const float>, Matrix<float>);
extern template void plucker_mix<double>(const MixShape&, Matrix<const double>, Matrix<const double>,
                                         Matrix<const double>, Vector<const double>, Matrix<double>);
extern template void plucker_mix_backward<float>(const MixShape&, Matrix<const float>, Matrix<const float>,
                                                 Matrix<const float>, Matrix<const float>, const MixGradients<float>&);
extern template void plucker_mix_backward<double>(const MixShape&, Matrix<const double>, Matrix<const double>,
                                                  Matrix<const double>, Matrix<const double>,
                                                  const MixGradients<double>&);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

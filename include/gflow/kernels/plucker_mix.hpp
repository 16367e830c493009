#pragma once
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/kernels/plucker.hpp>

#include <span>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// What a mixing call looks like. Positions are numbered sequence · length + t.
struct MixShape {
    Index batch = 0, length = 0, heads = 0, rank = 0;
    std::span<const Index> offsets;  ///< Δ: the partner of t is t − Δ; negative: a later position (encoders only)
    bool unit = true;                ///< planes have norm 1
    bool mean = true;                ///< without weights: w_Δ = 1 / number of valid offsets, else 1

    Index positions() const { return batch * length; }
    Index planes() const { return heads * plucker_size(rank); }
    bool valid(Index t, Index offset) const { return t - offset >= 0 && t - offset < length; }
    Index count_valid(Index t) const {
        Index count = 0;
        for (Index offset : offsets) count += valid(t, offset) ? 1 : 0;
        return count;
    }
};

namespace detail {

/// The geometry of one head at one position: v̂ and, for each partner u, the unit vector ŷ that spans with v̂ the plane
/// of u and v, so that (u∧v)/‖u∧v‖ = ŷ∧v̂.  Without normalisation v̂ and ŷ stand for v and u themselves.
template <class T>
class MixGeometry {
public:
    MixGeometry(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights)
        : shape_(shape), z_(z), weights_(weights) {}

    Vector<const T> state(Index position, Index head) const {
        return {z_[position].data() + head * shape_.rank, shape_.rank};
    }
    /// v_hat = v/|v| (zeros for v = 0); returns |v|.
    T direct(Vector<const T> v, Vector<T> v_hat) const {
        if (!shape_.unit) {
            array(v_hat) = array(v);
            return T(1);
        }
        const T norm = length_of(v);
        if (norm == T(0))
            array(v_hat).setZero();
        else
            array(v_hat) = array(v) / norm;
        return norm;
    }
    /// y_hat = y/|y| with y = u − (u·v̂)v̂; returns |y|, or 0 where the plane is not resolved.
    T span(Vector<const T> u, Vector<const T> v_hat, Vector<T> y_hat) const {
        if (!shape_.unit) {
            array(y_hat) = array(u);
            return T(1);
        }
        array(y_hat) = array(u) - vector(u).dot(vector(v_hat)) * array(v_hat);
        const T norm = length_of(Vector<const T>(y_hat));
        if (norm <= static_cast<T>(unresolved_angle) * length_of(u)) return T(0);  // NaN is not dropped
        array(y_hat) /= norm;
        return norm;
    }
    /// ∂u = w (a − (ŷ·a) ŷ)/|y| for ∂(w ŷ) = a; for planes without normalisation ∂u = w a.
    void pull_back(Vector<const T> a, Vector<const T> y_hat, T y_norm, T w, Vector<T> du) const {
        if (!shape_.unit)
            array(du) = w * array(a);
        else
            array(du) = (w / y_norm) * (array(a) - vector(y_hat).dot(vector(a)) * array(y_hat));
    }
    /// w_Δ at a position, with the sign that keeps "earlier ∧ later" for a partner that comes later.
    T weight(Index position, std::size_t which) const {
        const T sign = shape_.offsets[which] < 0 ? T(-1) : T(1);
        const Index t = position % shape_.length;
        if (weights_.data() != nullptr)
            return sign * weights_[weights_.rows() == shape_.length ? t : position][static_cast<Index>(which)];
        return shape_.mean ? sign / static_cast<T>(shape_.count_valid(t)) : sign;
    }
    /// s = Σ_Δ w_Δ ŷ_Δ;  y_hat is working space.
    void mix(Index position, Index head, Vector<const T> v_hat, Vector<T> s, Vector<T> y_hat) const {
        array(s).setZero();
        for (std::size_t which = 0; which < shape_.offsets.size(); ++which) {
            const Index offset = shape_.offsets[which];
            if (!shape_.valid(position % shape_.length, offset)) continue;
            if (span(state(position - offset, head), v_hat, y_hat) == T(0)) continue;
            array(s) += weight(position, which) * array(y_hat);
        }
    }

private:
    const MixShape& shape_;
    Matrix<const T> z_, weights_;
};

inline constexpr Index mix_tile = 128;  // positions whose planes are made at once: 128 × 496 float32 are 248 KiB

/// s∧v̂ of positions begin … end−1, every head's planes side by side.  p: [end − begin, heads·C(rank,2)].
template <class T>
void mix_planes(const MixShape& shape, const MixGeometry<T>& geometry, Index begin, Index end, Matrix<T> p) {
    const Index r = shape.rank, planes = plucker_size(r);
    const Scratch<T> space(3 * r);
    const Vector<T> v_hat(space.data(), r), s(space.data() + r, r), y_hat(space.data() + 2 * r, r);
    for (Index position = begin; position < end; ++position)
        for (Index head = 0; head < shape.heads; ++head) {
            geometry.direct(geometry.state(position, head), v_hat);
            geometry.mix(position, head, v_hat, s, y_hat);
            wedge<T>(s, v_hat, {p[position - begin].data() + head * planes, planes});
        }
}

}  // namespace detail

/// g = (s ∧ v̂)·Wᵀ + b: one wedge and one row of a matrix product per position, whatever the number of offsets
/// (arXiv 2512.19428 §3, factorised: docs/plucker.md).  The planes exist a tile at a time.
/// z: [positions, heads·rank], weights: [positions or length, offsets] or none, w: [d, heads·C(rank,2)], b: [d] or
/// none, g: [positions, d].
template <class T>
void plucker_mix(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights, Matrix<const T> w,
                 Vector<const T> b, Matrix<T> g) {
    const detail::MixGeometry<T> geometry(shape, z, weights);
    PackedFactor<T> packed_w(w.cols(), w.rows());
    packed_w.pack_on_all_threads(transposed(w));
    parallel_for(shape.positions(), detail::mix_tile, [&](Index begin, Index end) {
        const Scratch<T> memory((end - begin) * shape.planes());
        const Matrix<T> p = memory.rows(end - begin, shape.planes());
        detail::mix_planes(shape, geometry, begin, end, p);
        const Matrix<T> out = g.row_range(begin, end);
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

/// With q = Wᵀ dg and Q its antisymmetric matrix: a = Q v̂ = ∂s for each position; ∂w_Δ = ŷ_Δ·a; and the part of dz
/// that a position gets as the later state:
///     ∂v̂ = −Q s − Σ_Δ (u_Δ·v̂) ∂u_Δ,    ∂v = (∂v̂ − (v̂·∂v̂) v̂)/|v|
template <class T>
void mix_backward_later(const MixShape& shape, const MixGeometry<T>& geometry, Matrix<const T> w, Matrix<const T> dg,
                        Matrix<T> a, const MixGradients<T>& grad) {
    PackedFactor<T> packed_w(w.rows(), w.cols());
    packed_w.pack_on_all_threads(w);
    parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
        const Index rows = end - begin, r = shape.rank, planes = plucker_size(r);
        const Scratch<T> memory(rows * shape.planes() + 5 * r);
        const Matrix<T> q = memory.rows(rows, shape.planes());
        T* const space = q.data() + rows * q.cols();
        const Vector<T> v_hat(space, r), y_hat(space + r, r), s(space + 2 * r, r), du(space + 3 * r, r),
            dv(space + 4 * r, r);
        multiply_packed<T>(dg.row_range(begin, end), packed_w, 0, q, Onto::overwrite);
        for (Index position = begin; position < end; ++position) {
            for (Index head = 0; head < shape.heads; ++head) {
                const Vector<const T> q_head(q[position - begin].data() + head * planes, planes);
                const Vector<T> a_head(a[position].data() + head * r, r);
                const T v_norm = geometry.direct(geometry.state(position, head), v_hat);
                antisymmetric_product<T>(q_head, v_hat, a_head);
                geometry.mix(position, head, v_hat, s, y_hat);
                antisymmetric_product<T>(q_head, s, dv);
                array(dv) = -array(dv);
                for (std::size_t which = 0; which < shape.offsets.size(); ++which) {
                    const Index offset = shape.offsets[which];
                    if (!shape.valid(position % shape.length, offset)) continue;
                    const Vector<const T> u = geometry.state(position - offset, head);
                    const T y_norm = geometry.span(u, v_hat, y_hat);
                    if (y_norm == T(0)) continue;
                    if (grad.dweights.data() != nullptr) {
                        const T sign = offset < 0 ? T(-1) : T(1);
                        grad.dweights[position][static_cast<Index>(which)] += sign * vector(y_hat).dot(vector(a_head));
                    }
                    if (!shape.unit) continue;  // then y = u does not depend on v
                    geometry.pull_back(a_head, y_hat, y_norm, geometry.weight(position, which), du);
                    array(dv) -= vector(u).dot(vector(v_hat)) * array(du);
                }
                if (grad.dz.data() == nullptr || v_norm == T(0)) continue;
                if (shape.unit) array(dv) = (array(dv) - vector(v_hat).dot(vector(dv)) * array(v_hat)) / v_norm;
                array(grad.dz[position].data() + head * r, r) += array(dv);
            }
        }
    });
}

/// The part of dz that a position gets as the partner of others: it collects ∂u = w_Δ (a − (ŷ·a) ŷ)/|y| from each of
/// them, so that no two threads write to one place.
template <class T>
void mix_backward_partner(const MixShape& shape, const MixGeometry<T>& geometry, Matrix<const T> a, Matrix<T> dz) {
    parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
        const Index r = shape.rank;
        const Scratch<T> space(3 * r);
        const Vector<T> v_hat(space.data(), r), y_hat(space.data() + r, r), du(space.data() + 2 * r, r);
        for (Index position = begin; position < end; ++position) {
            for (std::size_t which = 0; which < shape.offsets.size(); ++which) {
                const Index offset = shape.offsets[which];
                if (!shape.valid(position % shape.length, -offset)) continue;
                const Index user = position + offset;
                for (Index head = 0; head < shape.heads; ++head) {
                    geometry.direct(geometry.state(user, head), v_hat);
                    const T y_norm = geometry.span(geometry.state(position, head), v_hat, y_hat);
                    if (y_norm == T(0)) continue;
                    geometry.pull_back({a[user].data() + head * r, r}, y_hat, y_norm, geometry.weight(user, which), du);
                    array(dz[position].data() + head * r, r) += array(du);
                }
            }
        }
    });
}

/// dW += dgᵀ·(s∧v̂), the planes rebuilt a stretch of positions at a time.
template <class T>
void mix_backward_weight(const MixShape& shape, const MixGeometry<T>& geometry, Matrix<const T> dg, Matrix<T> dw) {
    constexpr Index stretch = 512;  // 512 × 496 float32 are 1 MiB: they stay in the last-level cache
    const Scratch<T> memory(std::min(stretch, shape.positions()) * shape.planes());
    for (Index begin = 0; begin < shape.positions(); begin += stretch) {
        const Index end = std::min(begin + stretch, shape.positions());
        const Matrix<T> p = memory.rows(end - begin, shape.planes());
        parallel_for(end - begin, mix_tile / 4, [&](Index first, Index last) {
            mix_planes(shape, geometry, begin + first, begin + last, p.row_range(first, last));
        });
        gemm<T>(transposed(dg.row_range(begin, end)), p, dw, Onto::add);
    }
}

}  // namespace detail

/// Adds the gradients of plucker_mix to those that are wanted (docs/plucker.md derives them). Nothing of the size of
/// the planes is kept: they are rebuilt a tile at a time beside the product that eats them.
template <class T>
void plucker_mix_backward(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights, Matrix<const T> w,
                          Matrix<const T> dg, const MixGradients<T>& grad) {
    const detail::MixGeometry<T> geometry(shape, z, weights);
    if (grad.dz.data() != nullptr || grad.dweights.data() != nullptr) {
        const Scratch<T> a(shape.positions() * shape.heads * shape.rank);
        const Matrix<T> a_rows = a.rows(shape.positions(), shape.heads * shape.rank);
        detail::mix_backward_later<T>(shape, geometry, w, dg, a_rows, grad);
        if (grad.dz.data() != nullptr) detail::mix_backward_partner<T>(shape, geometry, a_rows, grad.dz);
    }
    if (grad.dw.data() != nullptr) detail::mix_backward_weight<T>(shape, geometry, dg, grad.dw);
    if (grad.db.data() != nullptr) add_column_sums<T>(dg, grad.db);
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

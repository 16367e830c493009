#pragma once
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
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

/// How y = u − along·v̂ was found: along = u·v̂, norm = |y|, or 0 where the plane of u and v is not resolved.
template <class T>
struct Span {
    T along, norm;
};

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
    /// y_hat = y/|y| with y = u − (u·v̂)v̂; not written where the plane is not resolved.
    Span<T> span(Vector<const T> u, Vector<const T> v_hat, Vector<T> y_hat) const {
        if (!shape_.unit) {
            array(y_hat) = array(u);
            return {T(0), T(1)};
        }
        const T along = vector(u).dot(vector(v_hat));
        array(y_hat) = array(u) - along * array(v_hat);
        const T norm = length_of(Vector<const T>(y_hat));
        if (norm <= static_cast<T>(unresolved_angle) * length_of(u)) return {along, T(0)};  // NaN is not dropped
        array(y_hat) /= norm;
        return {along, norm};
    }
    /// The y_hat that span found.
    void direction(Vector<const T> u, Vector<const T> v_hat, Span<T> span, Vector<T> y_hat) const {
        if (!shape_.unit)
            array(y_hat) = array(u);
        else
            array(y_hat) = (array(u) - span.along * array(v_hat)) / span.norm;
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
    /// s = Σ_Δ w_Δ ŷ_Δ;  y_hat is working space. keep(which, span) is told of each valid offset.
    template <class Keep>
    void mix(Index position, Index head, Vector<const T> v_hat, Vector<T> s, Vector<T> y_hat, Keep keep) const {
        array(s).setZero();
        for (std::size_t which = 0; which < shape_.offsets.size(); ++which) {
            const Index offset = shape_.offsets[which];
            if (!shape_.valid(position % shape_.length, offset)) continue;
            const Span<T> found = span(state(position - offset, head), v_hat, y_hat);
            keep(which, found);
            if (found.norm == T(0)) continue;
            array(s) += weight(position, which) * array(y_hat);
        }
    }

private:
    const MixShape& shape_;
    Matrix<const T> z_, weights_;
};

inline constexpr Index mix_tile = 128;  // positions whose planes are made at once: 128 × 496 float32 are 248 KiB

/// What backward needs of the geometry three times over, computed once for all positions and heads.
template <class T>
class MixStates {
public:
    MixStates(const MixShape& shape, const MixGeometry<T>& geometry)
        : shape_(shape),
          offsets_(static_cast<Index>(shape.offsets.size())),
          vectors_(shape.positions() * shape.heads * 2 * shape.rank),
          norms_(shape.positions() * shape.heads),
          spans_(shape.positions() * shape.heads * offsets_) {
        parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
            const Scratch<T> y_hat(shape.rank);
            for (Index position = begin; position < end; ++position)
                for (Index head = 0; head < shape.heads; ++head) {
                    const Index here = at(position, head);
                    norms_.data()[here] = geometry.direct(geometry.state(position, head), v_hat(position, head));
                    geometry.mix(position, head, v_hat(position, head), s(position, head), y_hat,
                                 [&](std::size_t which, Span<T> span) {
                                     spans_.data()[here * offsets_ + static_cast<Index>(which)] = span;
                                 });
                }
        });
    }
    Vector<T> v_hat(Index position, Index head) const {
        return {vectors_.data() + 2 * at(position, head) * shape_.rank, shape_.rank};
    }
    Vector<T> s(Index position, Index head) const {
        return {vectors_.data() + (2 * at(position, head) + 1) * shape_.rank, shape_.rank};
    }
    T v_norm(Index position, Index head) const { return norms_.data()[at(position, head)]; }
    /// Of a valid offset.
    Span<T> span(Index position, Index head, std::size_t which) const {
        return spans_.data()[at(position, head) * offsets_ + static_cast<Index>(which)];
    }

private:
    Index at(Index position, Index head) const { return position * shape_.heads + head; }

    const MixShape& shape_;
    Index offsets_;
    Scratch<T> vectors_, norms_;
    Scratch<Span<T>> spans_;
};

}  // namespace detail

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

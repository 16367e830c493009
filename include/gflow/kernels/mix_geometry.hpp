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

inline constexpr Index mix_tile = 128;  // positions whose planes are made at once: 128 × 496 float32 are 248 KiB

/// The plane of u and v by their directions û and v̂: ŷ = (û − along·v̂)/norm spans it with v̂, where along = û·v̂ is the
/// cosine of their angle and norm its sine, or 0 where the plane is not resolved.
template <class T>
struct Span {
    T along, norm;
};

/// The geometry of all heads at all positions: v̂ = v/|v| of each state and, for each pair, the span of û and v̂, so that
/// (u∧v)/‖u∧v‖ = ŷ∧v̂. Directions alone enter it, so that states of any size neither vanish nor overflow.
/// Without normalisation v̂ and ŷ stand for v and u themselves, and along = 0, norm = 1.
template <class T>
class MixGeometry {
public:
    MixGeometry(const MixShape& shape, Matrix<const T> z, Matrix<const T> weights)
        : shape_(shape),
          weights_(weights),
          directions_(shape.positions() * shape.heads * shape.rank),
          lengths_(shape.positions() * shape.heads) {
        parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
            for (Index position = begin; position < end; ++position)
                for (Index head = 0; head < shape.heads; ++head)
                    direct({z[position].data() + head * shape.rank, shape.rank}, position, head);
        });
    }

    /// Zeros for v = 0.
    Vector<T> v_hat(Index position, Index head) const {
        return {directions_.data() + at(position, head) * shape_.rank, shape_.rank};
    }
    /// |v|, or 1 without normalisation.
    T length(Index position, Index head) const { return lengths_.data()[at(position, head)]; }
    /// y = û − along·v̂.
    Span<T> span(Vector<const T> u_hat, Vector<const T> v_hat, Vector<T> y) const {
        if (!shape_.unit) {
            array(y) = array(u_hat);
            return {T(0), T(1)};
        }
        const T along = vector(u_hat).dot(vector(v_hat));
        array(y) = array(u_hat) - along * array(v_hat);
        const T norm = vector(y).norm();
        return {along, norm <= static_cast<T>(unresolved_angle) ? T(0) : norm};  // NaN is not dropped
    }
    /// w_Δ at a position, with the sign that keeps "earlier ∧ later" for a partner that comes later.
    T weight(Index position, std::size_t which) const {
        const T sign = shape_.offsets[which] < 0 ? T(-1) : T(1);
        const Index t = position % shape_.length;
        if (weights_.data() != nullptr)
            return sign * weights_[weights_.rows() == shape_.length ? t : position][static_cast<Index>(which)];
        return shape_.mean ? sign / static_cast<T>(shape_.count_valid(t)) : sign;
    }
    /// s = Σ_Δ w_Δ ŷ_Δ;  y is working space. keep(which, span) is told of each valid offset.
    template <class Keep>
    void mix(Index position, Index head, Vector<T> s, Vector<T> y, Keep keep) const {
        array(s).setZero();
        for (std::size_t which = 0; which < shape_.offsets.size(); ++which) {
            const Index offset = shape_.offsets[which];
            if (!shape_.valid(position % shape_.length, offset)) continue;
            const Span<T> found = span(v_hat(position - offset, head), v_hat(position, head), y);
            keep(which, found);
            if (found.norm != T(0)) array(s) += (weight(position, which) / found.norm) * array(y);
        }
    }

private:
    Index at(Index position, Index head) const { return position * shape_.heads + head; }

    void direct(Vector<const T> v, Index position, Index head) const {
        T& length = lengths_.data()[at(position, head)];
        length = shape_.unit ? length_of(v) : T(1);
        if (length == T(0))
            array(v_hat(position, head)).setZero();
        else
            array(v_hat(position, head)) = array(v) / length;
    }

    const MixShape& shape_;
    Matrix<const T> weights_;
    Scratch<T> directions_, lengths_;
};

/// What a pair passes back to its partner: ∂û = of_a·a − of_u·(û − along·v̂), with a = ∂s of the position that used it.
template <class T>
struct Pull {
    T of_a, of_u, along;
};

/// What backward needs of all positions, heads and pairs, computed once: s and the spans; and the pulls, which the
/// later state of each pair leaves here for the partner.
template <class T>
class MixStates {
public:
    MixStates(const MixShape& shape, const MixGeometry<T>& geometry)
        : shape_(shape),
          offsets_(static_cast<Index>(shape.offsets.size())),
          s_(shape.positions() * shape.heads * shape.rank),
          spans_(shape.positions() * shape.heads * offsets_),
          pulls_(shape.positions() * shape.heads * offsets_) {
        parallel_for(shape.positions(), mix_tile, [&](Index begin, Index end) {
            const Scratch<T> y(shape.rank);
            for (Index position = begin; position < end; ++position)
                for (Index head = 0; head < shape.heads; ++head)
                    geometry.mix(position, head, s(position, head), y, [&](std::size_t which, Span<T> span) {
                        spans_.data()[pair(position, head, which)] = span;
                    });
        });
    }
    Vector<T> s(Index position, Index head) const {
        return {s_.data() + at(position, head) * shape_.rank, shape_.rank};
    }
    /// Of a valid offset.
    Span<T> span(Index position, Index head, std::size_t which) const {
        return spans_.data()[pair(position, head, which)];
    }
    Pull<T>& pull(Index position, Index head, std::size_t which) const {
        return pulls_.data()[pair(position, head, which)];
    }

private:
    Index at(Index position, Index head) const { return position * shape_.heads + head; }
    Index pair(Index position, Index head, std::size_t which) const {
        return at(position, head) * offsets_ + static_cast<Index>(which);
    }

    const MixShape& shape_;
    Index offsets_;
    Scratch<T> s_;
    Scratch<Span<T>> spans_;
    Scratch<Pull<T>> pulls_;
};

}  // namespace detail

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

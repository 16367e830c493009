#pragma once
#include <gflow/autograd/record.hpp>
#include <gflow/core/tensor_view.hpp>
#include <gflow/kernels/plucker_mix.hpp>

#include <vector>

namespace gflow {

/// How the planes of several offsets become one vector.
enum class Aggregate { mean, sum };
/// Whether a plane is divided by its norm (a point on the Grassmannian) or kept as it is.
enum class Normalize { unit, none };

struct PluckerMixOptions {
    Index heads = 1;                   ///< z splits into heads of equal rank, each with its own planes
    std::vector<Index> offsets = {1};  ///< partners: t − Δ; a negative Δ looks ahead, which no language model may
    Normalize normalize = Normalize::unit;
    Aggregate aggregate = Aggregate::mean;  ///< used where no weights are given
};

namespace detail {

inline void check_plucker_mix(const Tensor& z, const Tensor& weight, const Tensor& bias, const Tensor& offset_weights,
                              const PluckerMixOptions& options) {
    const char* op = "plucker_mix";
    require(z.rank() == 3, op, "[batch, length, heads·rank] is needed", {{"z", z}});
    require(options.heads >= 1 && z.size(2) % options.heads == 0, op, "z must split evenly into heads",
            {{"z", z}, {"heads", options.heads}});
    const Index rank = z.size(2) / options.heads;
    require(rank >= 2, op, "a plane needs states of at least 2 numbers", {{"rank", rank}});
    require(weight.rank() == 2 && weight.size(1) == options.heads * kernels::plucker_size(rank), op,
            "the weight must have one column for each Plücker coordinate", {{"weight", weight}, {"rank", rank}});
    require(!bias.defined() || bias.shape() == Shape{weight.size(0)}, op, "the bias must have one value per output",
            {{"weight", weight}, {"bias", bias}});
    require<dtype_error>(z.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == z.dtype()) &&
                             (!offset_weights.defined() || offset_weights.dtype() == z.dtype()),
                         op, "dtypes must be equal",
                         {{"z", z}, {"weight", weight}, {"offset_weights", offset_weights}});
    for (Index offset : options.offsets)
        require<usage_error>(offset != 0, op, "an offset of 0 pairs a state with itself, which spans no plane");
    const auto m = static_cast<Index>(options.offsets.size());
    require(!offset_weights.defined() || offset_weights.shape() == Shape{z.size(1), m} ||
                offset_weights.shape() == Shape{z.size(0), z.size(1), m},
            op, "offset weights must be [length, offsets] or [batch, length, offsets]",
            {{"z", z}, {"offset_weights", offset_weights}, {"offsets", m}});
}

inline kernels::MixShape mix_shape(const Tensor& z, const PluckerMixOptions& options) {
    return {z.size(0),
            z.size(1),
            options.heads,
            z.size(2) / options.heads,
            options.offsets,
            options.normalize == Normalize::unit,
            options.aggregate == Aggregate::mean};
}

template <class T>
Matrix<const T> rows_or_none(const Tensor& x) {
    return x.defined() ? read_rows<T>(x) : Matrix<const T>(nullptr, 0, 0);
}

/// Writes g, [..., d], of as many of the last positions as g has rows.
inline void write_plucker_mix(const Tensor& z, const Tensor& weight, const Tensor& bias,
                              const PluckerMixOptions& options, const Tensor& offset_weights, Tensor& g) {
    visit_floating("plucker_mix", z.dtype(), [&]<class T>(T) {
        kernels::plucker_mix<T>(mix_shape(z, options), read_rows<T>(z), rows_or_none<T>(offset_weights),
                                read_rows<T>(weight), {bias.data<T>(), weight.size(0)}, write_rows<T>(g));
    });
}

}  // namespace detail

/// g_t = W Σ_Δ w_Δ p̂_Δ + b, where p̂_Δ are the Plücker coordinates of the plane that z_{t−Δ} and z_t span
/// (arXiv 2512.19428 §3; factorised as W(s∧v̂), see docs/plucker.md). Every offset counts by position only: one whose
/// plane is not resolved (angle below 1e-4) gives zeros and no gradient, and keeps its place in the mean.
/// @param z               [batch, length, heads·rank], float32 or float64
/// @param weight          [d, heads·C(rank,2)]; columns follow i<j lexicographically, head after head
/// @param bias            [d] or undefined; added once, also where no offset is valid
/// @param offset_weights  undefined: 1/(number of valid offsets) or 1, see Aggregate; else w_Δ as [length, offsets] or
///                        [batch, length, offsets]. Entries of offsets that reach outside the sequence are not used.
/// @return                [batch, length, d]
/// @throws                shape_error, dtype_error, usage_error
inline Tensor plucker_mix(const Tensor& z, const Tensor& weight, const Tensor& bias, const PluckerMixOptions& options,
                          const Tensor& offset_weights = {}) {
    detail::check_plucker_mix(z, weight, bias, offset_weights, options);
    Tensor g = empty({z.size(0), z.size(1), weight.size(0)}, z.dtype(), z.device());
    detail::write_plucker_mix(z, weight, bias, options, offset_weights, g);
    return record("plucker_mix", {z, weight, bias, offset_weights}, g, {z, weight, offset_weights},
                  [options](const Saved& saved, const Tensor& dg, Gradients& d) {
                      visit_floating("plucker_mix", dg.dtype(), [&]<class T>(T) {
                          const Tensor &states = saved[0], &w = saved[1], &shared = saved[2];
                          const Matrix<T> none(nullptr, 0, 0);
                          // Shared weights [length, offsets] first get one row for each position, then their sum.
                          const auto m = static_cast<Index>(options.offsets.size());
                          const bool summed = d.needed(3) && shared.rank() == 2;
                          Tensor each = summed ? zeros({states.size(0), states.size(1) * m}, dg.dtype()) : Tensor();
                          const Matrix<T> each_rows =
                              summed ? Matrix<T>(each.mutable_data<T>(), states.size(0) * states.size(1), m) : none;
                          kernels::plucker_mix_backward<T>(detail::mix_shape(states, options), read_rows<T>(states),
                                                           detail::rows_or_none<T>(shared), read_rows<T>(w),
                                                           read_rows<T>(dg),
                                                           {d.needed(0) ? write_rows<T>(d[0]) : none,
                                                            summed        ? each_rows
                                                            : d.needed(3) ? write_rows<T>(d[3])
                                                                          : none,
                                                            d.needed(1) ? write_rows<T>(d[1]) : none,
                                                            d.needed(2) ? write<T>(d[2]) : Vector<T>(nullptr, 0)});
                          if (summed) kernels::column_sums<T>(read_rows<T>(each), write<T>(d[3]));
                      });
                  });
}

/// The last position of plucker_mix for one sequence, as a decoder's step needs it. Not recorded.
/// @param z  [1, length, heads·rank], length ≥ 1; all else as in plucker_mix
/// @return   [1, 1, d]
/// @throws   shape_error, dtype_error, usage_error
inline Tensor plucker_mix_last(const Tensor& z, const Tensor& weight, const Tensor& bias,
                               const PluckerMixOptions& options, const Tensor& offset_weights = {}) {
    detail::check_plucker_mix(z, weight, bias, offset_weights, options);
    require(z.size(0) == 1 && z.size(1) >= 1, "plucker_mix_last", "one sequence of a position or more is needed",
            {{"z", z}});
    Tensor g = empty({1, 1, weight.size(0)}, z.dtype(), z.device());
    detail::write_plucker_mix(z, weight, bias, options, offset_weights, g);
    return g;
}

}  // namespace gflow

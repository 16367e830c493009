#pragma once
#include <gflow/core/create.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/index_select.hpp>
#include <gflow/ops/reshape.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace gflow {

/// The tokens of a padded batch, end to end, sequence after sequence: what an encoder computes on. Padding takes
/// neither memory nor time there, and whatever stands in it cannot reach a token.
class PackedBatch {
public:
    /// @param mask  [batch, length], uint8, int32 or int64: 1 for a token, 0 for padding, wherever that stands
    /// @throws      shape_error, dtype_error, or usage_error naming the first element that is neither
    explicit PackedBatch(const Tensor& mask) : batch_(rows_of(mask)), length_(mask.size(1)) {
        visit(mask.dtype(), [&]<class T>(T) {
            if constexpr (std::is_integral_v<T>) return read_mask<T>(mask);
            fail<dtype_error>("PackedBatch", "the mask must be uint8, int32 or int64", {{"mask", mask}});
        });
    }
    /// A batch without padding.
    PackedBatch(Index batch, Index length) : PackedBatch(ones({batch, length}, uint8)) {}

    /// Sequences, and positions that each of them has with its padding.
    Index batch() const { return batch_; }
    Index length() const { return length_; }
    /// Number of tokens in all sequences.
    Index tokens() const { return static_cast<Index>(places_.size()); }
    /// Number of tokens in each sequence.
    const std::vector<Index>& lengths() const { return lengths_; }

    /// Where a token lies in the padded batch: [sequence, position].
    Shape place_of(Index token) const {
        const Index place = places_[static_cast<std::size_t>(token)];
        return {place / length_, place % length_};
    }
    /// The position of each token.  [tokens], int64
    Tensor positions() const {
        std::vector<Index> columns;
        for (const Index place : places_) columns.push_back(place % length_);
        return from_vector(columns);
    }

    /// The tokens' part of x.  [batch, length, …], any dtype → [tokens, …]
    /// @throws shape_error if x has another shape
    Tensor pack(const Tensor& x) const {
        require(x.rank() >= 2 && x.size(0) == batch_ && x.size(1) == length_, "PackedBatch",
                "x must have the batch and length of the mask", {{"x", x}, {"mask", Shape{batch_, length_}}});
        const Tensor flat = reshape(x, with_rows({batch_ * length_}, x.shape(), 2));
        return has_padding() ? index_select(flat, 0, from_vector(places_)) : flat;
    }
    /// x in the places of the tokens, zeros in the padding.  [tokens, …] → [batch, length, …]
    /// @throws shape_error if x has not one row for each token
    Tensor unpack(const Tensor& x) const {
        require(x.rank() >= 1 && x.size(0) == tokens(), "PackedBatch", "x must have one row for each token",
                {{"x", x}, {"tokens", tokens()}});
        const Shape padded = with_rows({batch_, length_}, x.shape(), 1);
        if (!has_padding()) return reshape(x, padded);
        const Tensor nothing = zeros(with_rows({1}, x.shape(), 1), x.dtype());
        std::vector<Index> sources(static_cast<std::size_t>(batch_ * length_), tokens());  // the row of zeros
        for (Index token = 0; token < tokens(); ++token)
            sources[static_cast<std::size_t>(places_[static_cast<std::size_t>(token)])] = token;
        return reshape(index_select(concat({x, nothing}, 0), 0, from_vector(sources)), padded);
    }

private:
    static Index rows_of(const Tensor& mask) {
        require(mask.rank() == 2, "PackedBatch", "the mask must be [batch, length]", {{"mask", mask}});
        return mask.size(0);
    }
    /// `first`, followed by the axes of `shape` from `skipped` on.
    static Shape with_rows(Shape first, const Shape& shape, Index skipped) {
        for (Index axis = skipped; axis < shape.rank(); ++axis) first.push_back(shape[axis]);
        return first;
    }

    template <class T>
    void read_mask(const Tensor& mask) {
        const T* real = mask.data<T>();
        lengths_.assign(static_cast<std::size_t>(batch_), 0);
        for (Index place = 0; place < mask.numel(); ++place) {
            if (real[place] == 0) continue;
            if (real[place] != 1)
                fail<usage_error>("PackedBatch", "the mask must hold 1 for a token and 0 for padding",
                                  {{"element", static_cast<Index>(real[place])},
                                   {"position", Shape{place / length_, place % length_}}});
            places_.push_back(place);
            ++lengths_[static_cast<std::size_t>(place / length_)];
        }
    }
    bool has_padding() const { return tokens() < batch_ * length_; }

    Index batch_, length_;
    std::vector<Index> lengths_;
    std::vector<Index> places_;  // of each token: sequence · length + position
};

/// The mask of sequences that are padded at their ends.  [sequences, length], uint8
/// @throws shape_error unless every length lies in 0 … length
inline Tensor mask_of_lengths(const std::vector<Index>& lengths, Index length) {
    Tensor mask = zeros({static_cast<Index>(lengths.size()), length}, uint8);
    std::uint8_t* row = mask.mutable_data<std::uint8_t>();
    for (const Index tokens : lengths) {
        require(tokens >= 0 && tokens <= length, "mask_of_lengths", "no sequence may be longer than all positions",
                {{"tokens", tokens}, {"length", length}});
        std::fill_n(row, tokens, std::uint8_t{1});
        row += length;
    }
    return mask;
}

}  // namespace gflow

#include <gflow/core/random.hpp>
#include <gflow/models/packed_batch.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// Three sequences: padded at the end, all padding, padded at the front and within.
Tensor ragged_mask(DType dtype = int64) {
    return to(from_vector(std::vector<Index>{1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1}, {3, 4}), dtype);
}

}  // namespace

TEST_CASE("PackedBatch knows its tokens, wherever they stand") {
    for (const DType dtype : {uint8, int32, int64}) {
        const PackedBatch batch(ragged_mask(dtype));
        REQUIRE(batch.batch() == 3);
        REQUIRE(batch.length() == 4);
        REQUIRE(batch.tokens() == 4);
        REQUIRE(batch.lengths() == std::vector<Index>{2, 0, 2});
        REQUIRE(batch.positions().to_vector<Index>() == std::vector<Index>{0, 1, 1, 3});
        REQUIRE(batch.place_of(3) == Shape{2, 3});
    }
}

TEST_CASE("PackedBatch packs any dtype and unpacks into zeros") {
    const PackedBatch batch(ragged_mask());
    const Tensor ids = reshape(arange(12), {3, 4});
    REQUIRE(batch.pack(ids).to_vector<Index>() == std::vector<Index>{0, 1, 9, 11});
    REQUIRE(batch.unpack(batch.pack(ids)).to_vector<Index>() ==
            std::vector<Index>{0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 11});
    const auto pack = [&](const Tensor& x) { return batch.pack(x); };
    const auto unpack = [&](const Tensor& x) { return batch.unpack(x); };
    expect_grad(pack, randn({3, 4, 2}, float64));
    expect_grad(unpack, randn({4, 2}, float64));
    expect_grad(unpack, randn({4}, float64));
}

TEST_CASE("PackedBatch lets nothing through that stands in the padding, forward or backward") {
    const PackedBatch batch(ragged_mask());
    Tensor x = full({3, 4, 2}, not_a_number);
    for (const Index place : {0, 1, 9, 11})
        for (Index i = 0; i < 2; ++i) x.mutable_data<float>()[2 * place + i] = 1;
    expect_same_bits(batch.pack(x), ones({4, 2}));
    const Tensor rows = zeros({4, 2}).set_requires_grad();
    backward(batch.unpack(rows), x);
    expect_same_bits(rows.grad(), ones({4, 2}));
}

TEST_CASE("PackedBatch of sequences without padding, and of none") {
    const Tensor x = randn({2, 3, 4});
    const PackedBatch whole(2, 3);
    REQUIRE(whole.lengths() == std::vector<Index>{3, 3});
    expect_same_bits(whole.unpack(whole.pack(x)), x);
    for (const Shape& shape : {Shape{0, 3}, {2, 0}, {0, 0}}) {
        const PackedBatch none(zeros(shape, uint8));
        REQUIRE(none.tokens() == 0);
        REQUIRE(none.positions().shape() == Shape{0});
        REQUIRE(none.pack(zeros({shape[0], shape[1], 5})).shape() == Shape{0, 5});
        REQUIRE(none.unpack(zeros({0, 5})).shape() == Shape{shape[0], shape[1], 5});
    }
    REQUIRE(PackedBatch(zeros({2, 2}, uint8)).unpack(zeros({0, 3})).to_vector<float>() == std::vector<float>(12, 0));
}

TEST_CASE("mask_of_lengths marks the first positions") {
    REQUIRE(mask_of_lengths({2, 0, 3}, 3).to_vector<std::uint8_t>() ==
            std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0, 1, 1, 1});
    REQUIRE(mask_of_lengths({}, 3).shape() == Shape{0, 3});
    REQUIRE_THROWS_WITH(mask_of_lengths({2, 4}, 3), contains("tokens=4, length=3"));
    REQUIRE_THROWS_AS(mask_of_lengths({-1}, 3), shape_error);
}

TEST_CASE("PackedBatch names what does not fit") {
    REQUIRE_THROWS_WITH(PackedBatch(full({2, 3}, 2, int64)), contains("element=2, position=[0, 0]"));
    REQUIRE_THROWS_WITH(PackedBatch(full({2, 3}, -1, int32)), contains("element=-1"));
    REQUIRE_THROWS_WITH(PackedBatch(ones({2, 3})), contains("float32 [2, 3]"));
    REQUIRE_THROWS_AS(PackedBatch(ones({2, 3})), dtype_error);
    REQUIRE_THROWS_AS(PackedBatch(ones({6}, int64)), shape_error);
    const PackedBatch batch(ragged_mask());
    REQUIRE_THROWS_WITH(batch.pack(zeros({4, 3}, int64)), contains("mask=[3, 4]"));
    REQUIRE_THROWS_AS(batch.pack(zeros({3})), shape_error);
    REQUIRE_THROWS_WITH(batch.unpack(zeros({5, 2})), contains("tokens=4"));
}

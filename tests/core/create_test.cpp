#include <gflow/core/create.hpp>

#include <cstdint>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("tensors of one value, in every dtype") {
    for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8}) {
        CHECK(zeros({2, 3}, dtype).dtype() == dtype);
        expect_values(zeros({2}, dtype), {0, 0}, exactly);
        expect_values(ones({2}, dtype), {1, 1}, exactly);
        expect_values(full({2}, 3, dtype), {3, 3}, exactly);
        expect_values(scalar(2, dtype), {2}, exactly);
        expect_values(arange(4, dtype), {0, 1, 2, 3}, exactly);
        CHECK(empty({2, 3}, dtype).bytes() == 6 * size_of(dtype));
    }
    CHECK(scalar(1).rank() == 0);
    CHECK(zeros({0, 3}).numel() == 0);
    CHECK(arange(0).shape() == Shape{0});
    CHECK(zeros_like(full({2}, 3, int32)).dtype() == int32);
    CHECK(empty_like(zeros({2, 5}, float64)).shape() == Shape{2, 5});
    CHECK_THROWS_WITH(arange(-1), contains("gflow::arange: the number of elements must not be negative; got n=-1"));
}

TEST_CASE("sizes that no machine could count are refused before anything is allocated") {
    const Index large = Index{1} << 32U, half = Index{1} << 62U;
    CHECK_THROWS_AS(zeros({large, large}), shape_error);
    CHECK_THROWS_WITH(zeros({half}), contains("gflow::Tensor: the number of bytes must fit into 63 bits; "
                                              "got shape=[4611686018427387904], dtype=float32"));
    CHECK_THROWS_AS(empty({half / 4}, float64), shape_error);
    CHECK_THROWS_AS(full({half}, 1, int64), shape_error);
    float element = 0;
    CHECK_THROWS_AS(wrap(&element, {half}), shape_error);
    CHECK(zeros({0, half}).bytes() == 0);
}

TEST_CASE("from std::vector and raw memory") {
    expect_values(from_vector<double>({1, 2, 3, 4}, {2, 2}), {1, 2, 3, 4}, exactly);
    CHECK(from_vector<std::int32_t>({1, 2}).dtype() == int32);
    CHECK(from_vector<float>({}).shape() == Shape{0});
    CHECK(from_vector<float>({5}, {}).item<float>() == 5);
    const std::uint8_t bytes[] = {7, 8, 9};
    expect_values(from_data(bytes, 3, {3, 1}), {7, 8, 9}, exactly);
    CHECK_THROWS_WITH(from_vector<float>({1, 2, 3}, {2, 2}),
                      contains("as many values as elements are needed; got values=3, shape=[2, 2]"));
}

TEST_CASE("wrap takes foreign memory without a copy, and keeps its owner") {
    auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
    const std::weak_ptr<std::vector<float>> watch = owner;
    float* elements = owner->data();
    {
        Tensor x = wrap(elements, {3}, owner);
        owner.reset();
        CHECK(x.data<float>() == elements);
        x.mutable_data<float>()[0] = 9;
        CHECK_FALSE(watch.expired());
        CHECK((*watch.lock())[0] == 9);
    }
    CHECK(watch.expired());
}

TEST_CASE("to converts between any two dtypes") {
    for (DType from : {float32, float64, bfloat16, int32, int64, uint8})
        for (DType into : {float32, float64, bfloat16, int32, int64, uint8}) {
            const Tensor y = to(arange(4, from), into);
            CHECK(y.dtype() == into);
            expect_values(y, {0, 1, 2, 3}, exactly);
        }
    expect_values(to(from_vector<float>({-1.9F, 1.9F}), int64), {-1, 1}, exactly);
    expect_values(to(from_vector<double>({1.00390625}), bfloat16), {1}, exactly);
    expect_values(to(from_vector<float>({static_cast<float>(not_a_number)}), bfloat16), {not_a_number});
}

TEST_CASE("a value that a dtype cannot hold is refused") {
    CHECK_THROWS_WITH(full({1}, 300, uint8), contains("gflow::full: the dtype must be able to hold the value; "
                                                      "got value=300, dtype=uint8"));
    CHECK_THROWS_WITH(full({1}, not_a_number, int64), contains("value=nan, dtype=int64"));
    for (const double value : {-1.0, 256.0, infinity}) CHECK_THROWS_AS(full({1}, value, uint8), dtype_error);
    for (const double value : {0x1p63, -0x1.8p63}) CHECK_THROWS_AS(scalar(value, int64), dtype_error);
    expect_values(full({1}, -0x1p63, int64), {-0x1p63}, exactly);
    expect_values(full({1}, 255.5, uint8), {255}, exactly);
    expect_values(full({1}, -0.5, uint8), {0}, exactly);
    for (const DType dtype : {float32, bfloat16}) {
        CHECK_THROWS_AS(full({1}, 1e39, dtype), dtype_error);
        expect_values(full({2}, -infinity, dtype), {-infinity, -infinity});
    }
    CHECK(full({1}, 1e300, float64).item() == 1e300);

    CHECK_THROWS_WITH(arange(300, uint8), contains("gflow::arange: the dtype must be able to hold the value; "
                                                   "got value=299, dtype=uint8"));
    CHECK(arange(256, uint8).to_vector<std::uint8_t>().back() == 255);
    CHECK_THROWS_AS(arange(Index{1} << 40U, int32), dtype_error);

    CHECK_THROWS_WITH(to(from_vector<float>({1, -2}), uint8), contains("gflow::to: the dtype must be able to hold the "
                                                                       "value; got value=-2, dtype=uint8"));
    for (const double value : {not_a_number, infinity, -infinity, 1e30})
        for (const DType from : {float32, float64, bfloat16})
            for (const DType into : {int32, int64, uint8})
                CHECK_THROWS_AS(to(full({1}, value, from), into), dtype_error);
    CHECK_THROWS_AS(to(from_vector<Index>({Index{1} << 31U}), int32), dtype_error);
    expect_values(to(from_vector<double>({1e300}), float32), {infinity});
}

TEST_CASE("copy_into overwrites in place, and only what fits") {
    Tensor x = zeros({2}), view = x.viewed_as({2});
    copy_into(x, from_vector<float>({3, 4}));
    expect_values(view, {3, 4}, exactly);
    copy_into(x, x);
    expect_values(x, {3, 4}, exactly);
    CHECK_THROWS_WITH(copy_into(x, zeros({3})),
                      contains("shapes must be equal; got destination=float32 [2], source=float32 [3]"));
    CHECK_THROWS_AS(copy_into(x, zeros({2}, float64)), dtype_error);
}

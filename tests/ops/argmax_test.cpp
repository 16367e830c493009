#include <gflow/ops/argmax.hpp>
#include <gflow/ops/reshape.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("argmax along each axis") {
    const Tensor x = from_vector<float>({1, 5, 2, 9, 0, 9}, {2, 3});
    CHECK(argmax(x).to_vector<Index>() == std::vector<Index>{1, 0});
    CHECK(argmax(x, 0).to_vector<Index>() == std::vector<Index>{1, 0, 1});
    CHECK(argmax(x, -2).shape() == Shape{3});
    CHECK(argmax(reshape(x, {1, 3, 2}), 1).to_vector<Index>() == std::vector<Index>{1, 1});
    CHECK(argmax(from_vector<double>({-3}, {1})).item<Index>() == 0);
}

TEST_CASE("argmax takes the first of several, and NaN for the largest") {
    CHECK(argmax(from_vector<double>({2, 7, 7, 7}, {4})).item<Index>() == 1);
    CHECK(argmax(from_vector<double>({2, NAN, infinity, NAN}, {4})).item<Index>() == 1);
    CHECK(argmax(from_vector<double>({-infinity, -infinity}, {2})).item<Index>() == 0);
}

TEST_CASE("argmax of nothing, and what it refuses") {
    CHECK(argmax(zeros({0, 3})).shape() == Shape{0});
    CHECK_THROWS_WITH(argmax(zeros({2, 0})), contains("argmax: the axis needs at least one element"));
    CHECK_THROWS_AS(argmax(zeros({2}), 1), index_error);
    CHECK_THROWS_AS(argmax(zeros({2}, int64)), dtype_error);
    CHECK_THROWS_AS(argmax(Tensor()), error);
}

TEST_CASE("argmax of a tensor that requires a gradient leaves the graph alone") {
    const Tensor x = randn({3, 4}, float64).set_requires_grad();
    CHECK_FALSE(argmax(x).requires_grad());
}

#include <gflow/core/shape.hpp>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("a shape tells its sizes") {
    const Shape shape{2, 3, 4};
    CHECK(shape.rank() == 3);
    CHECK(shape[1] == 3);
    CHECK(shape.front() == 2);
    CHECK(shape.back() == 4);
    CHECK(shape.numel() == 24);
    CHECK(to_string(shape) == "[2, 3, 4]");
    CHECK(std::vector<Index>(shape.begin(), shape.end()) == std::vector<Index>{2, 3, 4});
    CHECK(shape == Shape(std::vector<Index>{2, 3, 4}));
    CHECK_FALSE(shape == Shape{2, 3});
    CHECK_FALSE(shape == Shape{2, 3, 5});
}

TEST_CASE("scalars and empty tensors have shapes too") {
    CHECK(Shape{}.numel() == 1);
    CHECK(Shape{}.empty());
    CHECK(to_string(Shape{}) == "[]");
    CHECK(Shape{0, 3}.numel() == 0);
    CHECK(Shape{3'000'000'000, 2}.numel() == 6'000'000'000);
}

TEST_CASE("a shape whose elements no Index counts is refused, whatever stands beside a 0") {
    const Index large = Index{1} << 32U, half = Index{1} << 62U;
    CHECK(Shape{half}.numel() == half);
    CHECK(Shape{large, large / 4}.numel() == half);
    CHECK(Shape{half, 0}.numel() == 0);
    CHECK_THROWS_WITH((Shape{large, large}), contains("gflow::Shape: the number of elements must fit into 63 bits; "
                                                      "got shape=[4294967296, 4294967296]"));
    CHECK_THROWS_AS((Shape{half, 2}), shape_error);
    CHECK_THROWS_AS((Shape{0, large, large}), shape_error);
    CHECK_THROWS_AS((Shape{large, large, 0}), shape_error);
    Shape grown{half};
    CHECK_THROWS_AS(grown.push_back(4), shape_error);
    Shape assigned{large, 1};
    assigned[1] = large;
    CHECK_THROWS_AS(assigned.numel(), shape_error);
}

TEST_CASE("a shape's axes count from either end, and there are no others") {
    Shape shape{2, 3, 4};
    CHECK(shape[-1] == 4);
    CHECK(shape[-3] == 2);
    shape[-2] = 5;
    CHECK(shape == Shape{2, 5, 4});
    CHECK_THROWS_WITH(shape[3], contains("gflow::Shape: axis must be within the rank; got axis=3, rank=3"));
    CHECK_THROWS_AS(shape[-4], index_error);
    CHECK_THROWS_AS(Shape{}.back(), index_error);
    CHECK_THROWS_AS(Shape{}.front(), index_error);
}

TEST_CASE("a shape has at most 8 axes, none of them negative") {
    CHECK(Shape{1, 2, 3, 4, 5, 6, 7, 8}.rank() == 8);
    CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}),
                      contains("gflow::Shape: a tensor has at most 8 axes; got axes=9"));
    CHECK_THROWS_WITH((Shape{2, -3}), contains("sizes must not be negative; got size=-3"));
    CHECK_THROWS_AS((Shape{2, -3}), shape_error);
    Shape full{1, 1, 1, 1, 1, 1, 1, 1};
    CHECK_THROWS_AS(full.push_back(1), shape_error);
}

TEST_CASE("negative axes count from the last") {
    CHECK(normalize_axis("op", 0, 3) == 0);
    CHECK(normalize_axis("op", -1, 3) == 2);
    CHECK(normalize_axis("op", -3, 3) == 0);
    CHECK_THROWS_WITH(normalize_axis("op", 3, 3),
                      contains("gflow::op: axis must be within the rank; got axis=3, rank=3"));
    CHECK_THROWS_AS(normalize_axis("op", -4, 3), index_error);
    CHECK_THROWS_AS(normalize_axis("op", 0, 0), index_error);
}

TEST_CASE("shapes broadcast as in NumPy") {
    CHECK(broadcast("op", {2, 3}, {2, 3}) == Shape{2, 3});
    CHECK(broadcast("op", {2, 3}, {3}) == Shape{2, 3});
    CHECK(broadcast("op", {3}, {2, 1}) == Shape{2, 3});
    CHECK(broadcast("op", {}, {2, 3}) == Shape{2, 3});
    CHECK(broadcast("op", {0, 3}, {1, 3}) == Shape{0, 3});
    CHECK(broadcast("op", {1}, {0}) == Shape{0});
    CHECK_THROWS_WITH(broadcast("op", {2, 3}, {2}), contains("gflow::op: shapes must broadcast; got a=[2, 3], b=[2]"));
    CHECK_THROWS_AS(broadcast("op", {0}, {2}), shape_error);
}

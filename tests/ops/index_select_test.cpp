#include <gflow/ops/index_select.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("index_select") {
    const Tensor ids = from_vector<std::int64_t>({2, 0, 2, 1});
    SECTION("values and gradients, ids that come several times included") {
        for (Index axis : {0, 1, 2, -1})
            expect_grad([=](const Tensor& x, const Tensor& i) { return index_select(x, axis, i); },
                        randn({3, 4, 3}, float64), ids);
        expect_grad([](const Tensor& x, const Tensor& i) { return index_select(x, 0, i); }, randn({3}, float64),
                    to(ids, int32));
        expect_grad([](const Tensor& x, const Tensor& i) { return index_select(x, 1, i); }, randn({2, 3}, float64),
                    from_vector<std::int64_t>({}));
        const Tensor x = from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3});
        expect_values(index_select(x, 1, ids), {2, 0, 2, 1, 5, 3, 5, 4});
        expect_values(index_select(x, 0, from_vector<std::int32_t>({1})), {3, 4, 5});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("index_select", [](const Tensor& x, const Tensor& i) { return index_select(x, 1, i); });
    }
    SECTION("every dtype") {
        for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8})
            expect_values(index_select(to(arange(3), dtype), 0, ids), {2, 0, 2, 1}, exactly);
    }
    SECTION("any number of threads gives the same bits") {
        std::vector<std::int64_t> many;
        for (Index i = 0; i < 500; ++i) many.push_back(i * i % 50);
        expect_same_on_any_thread_count([](const Tensor& x, const Tensor& i) { return index_select(x, 0, i); },
                                        randn({50, 300}), from_vector(many));
    }
    SECTION("bad ids are refused at the door") {
        const Tensor x = zeros({2, 3});
        CHECK_THROWS_AS(index_select(x, 1, from_vector<std::int64_t>({0, 3})), index_error);
        CHECK_THROWS_WITH(index_select(x, 1, from_vector<std::int64_t>({0, 3})), contains("id=3, position=[1]"));
        CHECK_THROWS_WITH(index_select(x, 1, from_vector<std::int64_t>({-1})), contains("id=-1, position=[0]"));
        CHECK_THROWS_AS(index_select(x, 1, zeros({2})), dtype_error);
        CHECK_THROWS_AS(index_select(x, 1, zeros({2, 1}, int64)), shape_error);
        CHECK_THROWS_AS(index_select(x, 2, ids), index_error);
    }
}

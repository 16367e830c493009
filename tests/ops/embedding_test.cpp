#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/embedding.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor ids_of(const std::vector<std::int64_t>& ids, const Shape& shape) { return from_vector(ids, shape); }

}  // namespace

TEST_CASE("embedding") {
    const Tensor table = randn({5, 3}, float64);

    SECTION("values and gradients, for ids of any shape that repeat, and none") {
        for (const auto& ids : {ids_of({2}, {}), ids_of({4}, {1}), ids_of({0, 2, 2, 4, 2, 0}, {2, 3}),
                                ids_of({1, 1, 1, 1}, {1, 2, 2}), ids_of({}, {0}), ids_of({}, {2, 0})}) {
            expect_grad(embedding, table, ids);
            expect_grad(embedding, table, to(ids, int32));
            expect_value(
                embedding,
                [](const Tensor& weight, const Tensor& id) {
                    std::vector<double> y;
                    for (Index i = 0; i < id.numel(); ++i)
                        for (Index j = 0; j < 3; ++j) y.push_back(weight.data<double>()[3 * id.data<Index>()[i] + j]);
                    Shape shape = id.shape();
                    shape.push_back(3);
                    return from_vector(y, shape);
                },
                table, ids);
        }
        expect_grad(embedding, randn({4, 0}, float64), ids_of({1, 3}, {2}));
        expect_grad(embedding, randn({1, 1}, float64), ids_of({0}, {1}));
    }
    SECTION("a table used twice gathers both gradients") {
        const Tensor ids = ids_of({0, 3, 3}, {3}), others = ids_of({3, 1, 0}, {3});
        expect_grad([&](const Tensor& w) { return embedding(w, ids) * embedding(w, others); }, table);
    }
    SECTION("backward adds to what the table has gathered elsewhere, without another table") {
        const Index vocabulary = 30'000, size = 64;
        Tensor weight = zeros({vocabulary, size}).set_requires_grad();
        const Tensor ids = ids_of({7, 29'999, 7}, {3});
        backward(embedding(weight, ids), ones({3, size}));
        const Tensor y = embedding(weight, ids);
        BufferPool& pool = BufferPool::instance();
        pool.reset_peak();
        const std::size_t before = pool.statistics().peak_bytes;
        backward(y, ones({3, size}));
        CHECK(pool.statistics().peak_bytes - before < weight.bytes() / 100);
        const Tensor gradient = weight.grad();
        CHECK(gradient.data<float>()[7 * size] == 4);
        CHECK(gradient.data<float>()[vocabulary * size - 1] == 2);
        CHECK(gradient.data<float>()[0] == 0);
    }
    SECTION("any number of threads gives the same bits, however often ids repeat") {
        const Tensor ids = to(rand({3000}, float64), float64);
        std::vector<std::int64_t> skewed;
        for (const double u : ids.to_vector<double>()) skewed.push_back(static_cast<Index>(50 * u * u * u));
        expect_same_on_any_thread_count(embedding, randn({50, 200}), ids_of(skewed, {30, 100}));
    }
    SECTION("agrees with PyTorch") { expect_golden("embedding", embedding); }
    SECTION("bad input") {
        CHECK_THROWS_AS(embedding(table, ids_of({5}, {1})), index_error);
        CHECK_THROWS_WITH(embedding(table, ids_of({0, 1, 2, 3, 5, 9}, {2, 3})),
                          "gflow::embedding: every id must be at least 0 and below the limit; got id=5, "
                          "position=[1, 1], limit=5");
        CHECK_THROWS_WITH(embedding(table, to(ids_of({0, -1}, {2}), int32)),
                          contains("got id=-1, position=[1], limit=5"));
        CHECK_THROWS_WITH(embedding(zeros({0, 3}), ids_of({0}, {})), contains("got id=0, position=[], limit=0"));
        CHECK_THROWS_WITH(embedding(zeros({3}), ids_of({0}, {1})),
                          "gflow::embedding: the weight must be a table [V, d]; got weight=float32 [3]");
        CHECK_THROWS_WITH(embedding(table, table), "gflow::embedding: ids must be int32 or int64; got dtype=float64");
        CHECK_THROWS_WITH(embedding(arange(3), ids_of({0}, {1})),
                          "gflow::embedding: float32 or float64 is needed; got x=int64 [3]");
        CHECK_THROWS_WITH(embedding(table, Tensor()), contains("must be defined"));
    }
    SECTION("ids that change before backward are noticed") {
        Tensor ids = ids_of({0, 1}, {2}), weight = clone(table).set_requires_grad();
        const Tensor y = embedding(weight, ids);
        ids.mutable_data<Index>()[0] = 2;
        CHECK_THROWS_AS(backward(y, ones(y.shape(), float64)), autograd_error);
    }
}

#include <gflow/core/bfloat16.hpp>
#include <gflow/core/random.hpp>
#include <gflow/core/tensor_view.hpp>
#include <gflow/kernels/gemm.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;
using kernels::Onto;

namespace {

/// The product by its definition, in double.
template <class T>
Tensor plain_product(const Tensor& a, bool ta, const Tensor& b, bool tb) {
    const auto at = [](const Matrix<const T>& x, bool crossed, Index i, Index j) {
        return static_cast<double>(x[crossed ? j : i][crossed ? i : j]);
    };
    const Matrix<const T> left = read_rows<T>(a), right = read_rows<T>(b);
    const Index m = a.size(ta ? 1 : 0), depth = a.size(ta ? 0 : 1), n = b.size(tb ? 0 : 1);
    Tensor c = zeros({m, n}, float64);
    double* out = c.mutable_data<double>();
    for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j)
            for (Index k = 0; k < depth; ++k) out[i * n + j] += at(left, ta, i, k) * at(right, tb, k, j);
    return c;
}

template <class T>
void expect_product(Index m, Index depth, Index n) {
    for (const bool ta : {false, true})
        for (const bool tb : {false, true}) {
            INFO("m " << m << ", depth " << depth << ", n " << n << ", transposed " << ta << tb);
            const Tensor a = randn(ta ? Shape{depth, m} : Shape{m, depth}, dtype_of<T>);
            const Tensor b = randn(tb ? Shape{n, depth} : Shape{depth, n}, dtype_of<T>);
            const Tensor expected = plain_product<T>(a, ta, b, tb);
            const double scale = std::sqrt(static_cast<double>(depth) + 1);
            const Tolerance tolerance{(dtype_of<T> == float32 ? 1e-6 : 1e-14) * 10 * scale, 0};
            Tensor c = full({m, n}, 7, dtype_of<T>);
            kernels::gemm<T>({read_rows<T>(a), ta}, {read_rows<T>(b), tb}, write_rows<T>(c), Onto::overwrite);
            expect_close(to(c, float64), expected, tolerance);
            kernels::gemm<T>({read_rows<T>(a), ta}, {read_rows<T>(b), tb}, write_rows<T>(c), Onto::add);
            Tensor twice = clone(expected);
            for (double& x : write<double>(twice)) x *= 2;
            expect_close(to(c, float64), twice, {2 * tolerance.absolute, 0});
        }
}

}  // namespace

TEST_CASE("gemm is the matrix product for every shape") {
    for (const Index m : {1, 5, 8, 17, 150})
        for (const Index depth : {1, 8, 9, 300})
            for (const Index n : {1, 8, 33}) {
                expect_product<float>(m, depth, n);
                expect_product<double>(m, depth, n);
            }
}

TEST_CASE("gemm cuts the result into tiles, whatever the shape") {
    const auto pieces = [](Index m, Index depth, Index n) {
        const kernels::detail::GemmPlan plan = kernels::detail::plan_gemm<float>(m, n, depth);
        return plan.down(m) * plan.across(n);
    };
    REQUIRE(pieces(4, 3, 2) == 1);
    for (const auto& [m, depth, n] :
         {std::tuple<Index, Index, Index>{700, 40, 130}, {128, 1200, 128}, {20, 300, 2000}}) {
        REQUIRE(pieces(m, depth, n) >= 8);
        expect_product<float>(m, depth, n);
        expect_product<double>(n, depth, m);
    }
}

TEST_CASE("gemm packs a large B a block at a time") {
    expect_product<float>(9, 1100, 1500);  // blocks of columns and of the depth
    expect_product<float>(10, 9000, 40);   // a deep one
    expect_product<double>(8, 300, 4500);  // a wide one
}

TEST_CASE("gemm packs an A of many rows once for tiles that stand side by side") {
    for (const Index rows : {256, 257, 700}) {
        REQUIRE(kernels::detail::plan_gemm<float>(rows, 600, 20).across(600) > 1);
        expect_product<float>(rows, 20, 600);
        expect_product<double>(rows, 20, 600);
    }
}

TEST_CASE("a factor packed once serves many products") {
    const Tensor a = randn({61, 530}, float64), b = randn({530, 47}, float64);
    const kernels::Factor<double> right = read_rows<double>(b);
    Tensor packed = empty({61, 47}, float64), eigen = empty({61, 47}, float64);
    kernels::PackedFactor<double> factor(530, 47);
    factor.pack_on_all_threads(right);
    kernels::gemm<double>(read_rows<double>(a), factor, write_rows<double>(packed));
    kernels::eigen_gemm<double>(read_rows<double>(a), right, write_rows<double>(eigen), Onto::overwrite);
    expect_close(packed, eigen, {1e-12, 1e-12});
    factor.pack(right.row_range(0, 40).col_range(3, 23));
    kernels::gemm<double>(read_rows<double>(a).col_range(0, 40), factor, write_rows<double>(packed).col_range(0, 20));
    kernels::eigen_gemm<double>(read_rows<double>(a).col_range(0, 40), right.row_range(0, 40).col_range(3, 23),
                                write_rows<double>(eigen).col_range(0, 20), Onto::overwrite);
    expect_close(packed, eigen, {1e-12, 1e-12});
}

TEST_CASE("finish sees every element of the result once, complete") {
    const Tensor a = randn({150, 2100}), b = randn({2100, 700});
    Tensor c = empty({150, 700}), plain = empty({150, 700});
    kernels::gemm<float>(read_rows<float>(a), read_rows<float>(b), write_rows<float>(plain));
    kernels::gemm<float>(read_rows<float>(a), read_rows<float>(b), write_rows<float>(c), Onto::overwrite,
                         [&](Matrix<float> tile, Index row, Index col) {
                             for (Index i = 0; i < tile.rows(); ++i)
                                 for (Index j = 0; j < tile.cols(); ++j)
                                     tile[i][j] += static_cast<float>(1000 * (row + i) + col + j);
                         });
    for (Index i = 0; i < 150; ++i)
        for (Index j = 0; j < 700; ++j) plain.mutable_data<float>()[i * 700 + j] += static_cast<float>(1000 * i + j);
    expect_same_bits(c, plain);
}

namespace {

/// Products multiply bfloat16 while it lives.
struct InBfloat16 {
    InBfloat16() { set_float32_matmul_precision(bfloat16); }
    ~InBfloat16() { set_float32_matmul_precision(float32); }
};

void expect_nan_and_infinity_to_reach_the_result() {
    Tensor a = ones({16, 16}), b = ones({16, 16});
    a.mutable_data<float>()[3] = static_cast<float>(not_a_number);
    b.mutable_data<float>()[5] = static_cast<float>(infinity);
    Tensor c = empty({16, 16});
    kernels::gemm<float>(read_rows<float>(a), read_rows<float>(b), write_rows<float>(c));
    for (Index j = 0; j < 16; ++j) REQUIRE(std::isnan(c.data<float>()[j]));
    REQUIRE(std::isinf(c.data<float>()[16 + 5]));
    REQUIRE(c.data<float>()[16 + 6] == 16.0F);
}

Tensor rounded_to_bfloat16(const Tensor& x) {
    Tensor y = clone(x);
    for (float& value : write<float>(y)) value = static_cast<float>(bfloat16_t(value));
    return y;
}

}  // namespace

TEST_CASE("a B whose rows lie like panels is read where it lies, by an A in rows and by one packed for all tiles") {
    using Right = kernels::PackedFactor<float>;
    const Index rows = 270, depth = 2100, cols = 9 * Right::panel_cols();
    // The same factor in rows of two lengths, an even and an odd number of cache lines: one of them has to be packed.
    const Index line = 16, whole = (cols + line - 1) / line * line;
    const Tensor wide = randn({depth, whole + line});
    Tensor wider = randn({depth, whole + 2 * line});
    const auto columns = [](const Tensor& x, Index n) {
        return kernels::Factor<float>(read_rows<float>(x).col_range(0, n));
    };
    for (Index k = 0; k < depth; ++k)
        std::copy_n(read_rows<float>(wide)[k].data(), cols, wider.mutable_data<float>() + k * wider.size(1));
    REQUIRE(Right::lies_in_panels(columns(wide, cols)) != Right::lies_in_panels(columns(wider, cols)));
    for (const Tensor& x : {wide, wider}) {
        REQUIRE(!Right::lies_in_panels(columns(x, cols - 1)));
        const InBfloat16 scope;
        REQUIRE(!Right::lies_in_panels(columns(x, cols)));
    }
    for (const bool transposed : {false, true}) {
        const Tensor a = randn(transposed ? Shape{depth, rows} : Shape{rows, depth});
        const auto product = [&](const Tensor& b, auto gemm) {
            Tensor c = empty({rows, cols});
            gemm(kernels::Factor<float>(read_rows<float>(a), transposed), columns(b, cols), write_rows<float>(c),
                 Onto::overwrite);
            return c;
        };
        const auto gemm = [](kernels::Factor<float> left, kernels::Factor<float> right, Matrix<float> c, Onto onto) {
            kernels::gemm<float>(left, right, c, onto);
        };
        expect_same_bits(product(wide, gemm), product(wider, gemm));
        expect_close_in_norm("product", product(wide, gemm), product(wide, kernels::eigen_gemm<float>), 1e-6);
    }
}

TEST_CASE("in bfloat16 gemm is the product of the rounded factors, added up in float32") {
    for (const auto& [m, depth, n] : {std::tuple<Index, Index, Index>{8, 8, 8},
                                      {17, 9, 33},
                                      {150, 301, 40},
                                      {20, 700, 1100},
                                      {29, 64, 95},
                                      {600, 47, 600}})
        for (const bool ta : {false, true})
            for (const bool tb : {false, true}) {
                INFO("m " << m << ", depth " << depth << ", n " << n << ", transposed " << ta << tb);
                const Tensor a = randn(ta ? Shape{depth, m} : Shape{m, depth});
                const Tensor b = randn(tb ? Shape{n, depth} : Shape{depth, n});
                const Tensor expected = plain_product<float>(rounded_to_bfloat16(a), ta, rounded_to_bfloat16(b), tb);
                const Tensor unrounded = plain_product<float>(a, ta, b, tb);
                Tensor c = full({m, n}, 7);
                const InBfloat16 scope;
                kernels::gemm<float>({read_rows<float>(a), ta}, {read_rows<float>(b), tb}, write_rows<float>(c));
                const Tolerance tolerance{1e-5 * std::sqrt(static_cast<double>(depth)), 0};
                expect_close(to(c, float64), expected, tolerance);
                kernels::gemm<float>({read_rows<float>(a), ta}, {read_rows<float>(b), tb}, write_rows<float>(c),
                                     Onto::add);
                Tensor twice = clone(expected);
                for (double& x : write<double>(twice)) x *= 2;
                expect_close(to(c, float64), twice, {2 * tolerance.absolute, 0});
                double change = 0;
                for (Index i = 0; i < c.numel(); ++i)
                    change = std::max(change, std::abs(unrounded.data<double>()[i] - expected.data<double>()[i]));
                REQUIRE(change > 10 * tolerance.absolute);  // the measurement can tell
                kernels::gemm_tile<float>({read_rows<float>(a), ta}, {read_rows<float>(b), tb}, write_rows<float>(c),
                                          Onto::overwrite);
                expect_close(to(c, float64), expected, tolerance);
            }
}

TEST_CASE("in bfloat16 NaN and infinity reach the result, and float64 products stay as they are") {
    const InBfloat16 scope;
    expect_nan_and_infinity_to_reach_the_result();
    expect_product<double>(20, 30, 40);
}

namespace {

void expect_the_rest_untouched() {
    const Tensor a = randn({30, 20}), b = randn({20, 10});
    Tensor wide = full({30, 25}, 3);
    kernels::gemm<float>(read_rows<float>(a), read_rows<float>(b), write_rows<float>(wide).col_range(4, 14));
    for (Index row = 0; row < 30; ++row)
        for (Index col = 0; col < 25; ++col)
            if (col < 4 || col >= 14) REQUIRE(wide.data<float>()[row * 25 + col] == 3.0F);
}

}  // namespace

TEST_CASE("gemm leaves what lies beside the result alone") {
    expect_the_rest_untouched();
    const InBfloat16 scope;
    expect_the_rest_untouched();
}

TEST_CASE("a depth of 0 gives zeros, or changes nothing") {
    const Tensor a = empty({12, 0}), b = empty({0, 9});
    Tensor c = full({12, 9}, 2);
    kernels::gemm<float>({Matrix<const float>(a.data<float>(), 12, 0)}, {Matrix<const float>(b.data<float>(), 0, 9)},
                         write_rows<float>(c), Onto::add);
    expect_close(c, full({12, 9}, 2));
    kernels::gemm<float>({Matrix<const float>(a.data<float>(), 12, 0)}, {Matrix<const float>(b.data<float>(), 0, 9)},
                         write_rows<float>(c), Onto::overwrite);
    expect_close(c, zeros({12, 9}));
}

TEST_CASE("NaN and infinity reach the result") { expect_nan_and_infinity_to_reach_the_result(); }

TEST_CASE("gemm has the same bits on any number of threads") {
    const auto product = [](Index m, Index depth, Index n) {
        Generator fixed(3);
        const Tensor a = randn({m, depth}, float32, 1, fixed), b = randn({depth, n}, float32, 1, fixed);
        Tensor c = empty({m, n});
        kernels::gemm<float>(read_rows<float>(a), read_rows<float>(b), write_rows<float>(c));
        return c;
    };
    const int before = num_threads();
    for (const auto& [m, depth, n] : {std::tuple<Index, Index, Index>{600, 70, 600}, {100, 4000, 60}}) {
        set_num_threads(1);
        const Tensor alone = product(m, depth, n);
        set_num_threads(3);
        expect_same_bits(product(m, depth, n), alone);
    }
    set_num_threads(before);
}

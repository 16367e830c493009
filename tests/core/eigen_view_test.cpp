#include <gflow/core/eigen_view.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("a tensor seen as an Eigen matrix shares its memory") {
    Tensor x = from_vector<double>({0, 1, 2, 3, 4, 5}, {2, 3});
    const auto view = eigen_view<double>(x);
    CHECK(view.rows() == 2);
    CHECK(view.cols() == 3);
    CHECK(view(1, 0) == 3);
    CHECK(view.data() == x.data<double>());
    mutable_eigen_view<double>(x)(0, 2) = 9;
    expect_values(x, {0, 1, 9, 3, 4, 5}, exactly);
    CHECK_THROWS_AS(eigen_view<float>(x), dtype_error);
}

TEST_CASE("leading axes become rows; scalars, rows and nothing have views too") {
    const auto shape = [](const Tensor& x) {
        const auto view = eigen_view<float>(x);
        return std::pair<Index, Index>(view.rows(), view.cols());
    };
    CHECK(shape(zeros({2, 3, 4})) == std::pair<Index, Index>(6, 4));
    CHECK(shape(zeros({5})) == std::pair<Index, Index>(1, 5));
    CHECK(shape(zeros({})) == std::pair<Index, Index>(1, 1));
    CHECK(shape(zeros({3, 0})) == std::pair<Index, Index>(0, 0));
    CHECK(shape(zeros({0, 3})) == std::pair<Index, Index>(0, 3));
}

TEST_CASE("a row-major matrix becomes a tensor without a copy, any other expression with one") {
    EigenMatrix<float> rows(2, 2);
    rows << 1, 2, 3, 4;
    Tensor shared = from_eigen(rows);
    CHECK(shared.data<float>() == rows.data());
    shared.mutable_data<float>()[1] = 7;
    CHECK(rows(0, 1) == 7);

    Eigen::MatrixXd columns(2, 3);
    columns << 1, 2, 3, 4, 5, 6;
    expect_values(from_eigen(columns), {1, 2, 3, 4, 5, 6}, exactly);
    expect_values(from_eigen(columns.transpose() * 2), {2, 8, 4, 10, 6, 12}, exactly);
    CHECK(from_eigen(columns).dtype() == float64);
}

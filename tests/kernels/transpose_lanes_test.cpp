#include <gflow/kernels/packed_gemm.hpp>

#include "support/catch.hpp"

using namespace gflow;
using kernels::detail::transpose_lanes;

namespace {

template <class T, int lanes>
void check_square() {
    typedef T Lanes __attribute__((vector_size(lanes * sizeof(T))));
    Lanes square[lanes];
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j) square[i][j] = static_cast<T>(100 * i + j);
    transpose_lanes<lanes>(square);
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j) CHECK(square[i][j] == static_cast<T>(100 * j + i));
}

}  // namespace

TEST_CASE("transpose_lanes transposes squares of every width") {
    check_square<double, 2>();
    check_square<float, 4>();
    check_square<double, 4>();
    check_square<float, 8>();
}

TEST_CASE("pack_panels lays out rows and columns alike, and fills the last panel with zeros") {
    constexpr Index width = 6;  // no multiple of the lanes of a vector
    for (const Index lines : {1, 5, 6, 7, 13})
        for (const Index depth : {1, 7, 8, 9, 40}) {
            const auto value = [](Index line, Index k) { return static_cast<float>(1000 * (line + 1) + k); };
            std::vector<float> rows, columns;
            for (Index i = 0; i < lines; ++i)
                for (Index k = 0; k < depth; ++k) rows.push_back(value(i, k));
            for (Index k = 0; k < depth; ++k)
                for (Index i = 0; i < lines; ++i) columns.push_back(value(i, k));
            const Index panels = (lines + width - 1) / width, panel = width * depth + kernels::panel_gap<float>;
            std::vector<float> packed(static_cast<std::size_t>(panels * panel));
            const auto expect_panels = [&](Matrix<const float> stored, bool crossed) {
                INFO(lines << " lines, depth " << depth << ", crossed " << crossed);
                std::fill(packed.begin(), packed.end(), -1.0F);
                kernels::detail::pack_panels<width>(stored, crossed, packed.data(), panel);
                for (Index i = 0; i < panels * width; ++i)
                    for (Index k = 0; k < depth; ++k)
                        REQUIRE(packed[static_cast<std::size_t>(i / width * panel + k * width + i % width)] ==
                                (i < lines ? value(i, k) : 0.0F));
            };
            expect_panels({rows.data(), lines, depth}, false);
            expect_panels({columns.data(), depth, lines}, true);
        }
}

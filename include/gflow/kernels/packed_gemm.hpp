#pragma once
#include <gflow/kernels/packed_factor.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// 144 × 256 float32 are 144 KiB (AVX2): part of L2.
template <class T>
Index left_block_rows() {
    return 24 * micro_kernel<T>().rows;
}

/// Elements of one packed panel of A, and of a block of A packed in panels.
template <class T, class Operand>
Index left_panel_size(Index depth) {
    return depth * micro_kernel<T>().rows + panel_gap<Operand>;
}
template <class T>
Index left_block_size(Index rows, Index depth) {
    const Index panels = (rows + micro_kernel<T>().rows - 1) / micro_kernel<T>().rows;
    return panels * left_panel_size<T, T>(depth);
}

/// C = or += A·B, in the block of the depth of the packed B that starts at k, for its columns from `col` on. A in rows
/// where it lies (left_panels is nullptr), or in packed panels.
template <class T, class Operand>
void multiply_block(Index depth, Matrix<const Operand> left_rows, const Operand* left_panels, const PackedFactor<T>& b,
                    Index k, Index col, Matrix<T> c, bool add) {
    micro_kernel<T, Operand>().multiply({depth, left_rows, left_panels, b.template panel<Operand>(k, col), b.step(),
                                         b.panel_step(k), b.in_place(), c, add});
}

/// The same for a block of A in memory, packed where it has to be.  room: for the packed block.
template <class T, class Operand>
void multiply_block(Factor<T> a, Operand* room, const PackedFactor<T>& b, Index k, Index col, Matrix<T> c, bool add) {
    const MicroKernel<T, Operand>& kernel = micro_kernel<T, Operand>();
    const Index depth = b.operands(a.cols());
    if constexpr (std::is_same_v<T, Operand>)
        if (kernel.reads_rows_in_place && !a.transposed)
            return multiply_block<T, T>(depth, a.stored, nullptr, b, k, col, c, add);
    kernel.pack_left(a.stored, a.transposed, room, left_panel_size<T, Operand>(depth));
    multiply_block<T, Operand>(depth, {nullptr, 0, 0}, room, b, k, col, c, add);
}

}  // namespace detail

/// C = A·B, or C += A·B, for columns col … of the packed B, on one thread (Goto and van de Geijn, ACM TOMS 34(3),
/// 2008): a panel of B stays in the first-level cache, a block of A in the second. A: [m, k], B: [k, n], C: [m, any
/// part of n]; col is a multiple of PackedFactor::panel_cols().
template <class T>
void multiply_packed(Factor<T> a, const PackedFactor<T>& b, Index col, Matrix<T> c, Onto onto) {
    constexpr Index depth_block = PackedFactor<T>::depth_block;
    const Index depth = a.cols(), most_rows = detail::left_block_rows<T>();
    const Scratch<T> room(detail::left_block_size<T>(std::min(c.rows(), most_rows), std::min(depth, depth_block)));
    for (Index k = 0; k < depth; k += depth_block)
        for (Index row = 0; row < c.rows(); row += most_rows) {
            const Index row_end = std::min(row + most_rows, c.rows());
            const Factor<T> block = a.row_range(row, row_end).col_range(k, std::min(k + depth_block, depth));
            const Matrix<T> rows = c.row_range(row, row_end);
            const bool add = onto == Onto::add || k > 0;
            if constexpr (std::is_same_v<T, float>) {
                if (b.pairs()) {
                    auto* pairs = reinterpret_cast<Bfloat16Pair*>(room.data());
                    detail::multiply_block<T, Bfloat16Pair>(block, pairs, b, k, col, rows, add);
                    continue;
                }
            }
            detail::multiply_block<T, T>(block, room.data(), b, k, col, rows, add);
        }
}

/// The left factor of a product, packed: the panels of its transpose.
template <class T>
using PackedLeft = PackedFactor<T, Side::left>;

/// C = or += rows row … of the packed A times the columns col … of B, in the blocks of the depth of B from k on, on one
/// thread.  C: [at most left_block_rows(), any part of n]; row is a multiple of PackedLeft::panel_cols().
template <class T>
void multiply_packed(const PackedLeft<T>& a, Index row, const PackedFactor<T>& b, Index k, Index col, Matrix<T> c,
                     Onto onto) {
    const auto add_block = [&]<class Operand>(Index begin, Index depth, const Operand* panel) {
        detail::multiply_block<T, Operand>(depth, {nullptr, 0, 0}, panel, b, k + begin, col, c,
                                           onto == Onto::add || begin > 0);
    };
    for (Index begin = 0; begin < a.depth(); begin += a.depth_block) {
        const Index depth = std::min(a.depth_block, a.depth() - begin);
        if constexpr (std::is_same_v<T, float>) {
            if (a.pairs()) {
                add_block(begin, a.operands(depth), a.template panel<Bfloat16Pair>(begin, row));
                continue;
            }
        }
        add_block(begin, depth, a.template panel<T>(begin, row));
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template class PackedFactor<float>;
extern template class PackedFactor<double>;
extern template void multiply_packed<float>(Factor<float>, const PackedFactor<float>&, Index, Matrix<float>, Onto);
extern template void multiply_packed<double>(Factor<double>, const PackedFactor<double>&, Index, Matrix<double>, Onto);
extern template class PackedFactor<float, Side::left>;
extern template class PackedFactor<double, Side::left>;
extern template void multiply_packed<float>(const PackedLeft<float>&, Index, const PackedFactor<float>&, Index, Index,
                                            Matrix<float>, Onto);
extern template void multiply_packed<double>(const PackedLeft<double>&, Index, const PackedFactor<double>&, Index,
                                             Index, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

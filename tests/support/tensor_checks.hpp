#pragma once
// The harness for ops: what a test says in one line, and what it prints when that is not so.

#include <gflow/autograd/gradcheck.hpp>
#include <gflow/core/create.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/to.hpp>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

namespace gflow::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// |actual − expected| ≤ absolute + relative·|expected|. NaN agrees with NaN alone, ∞ with the same ∞ alone.
struct Tolerance {
    double absolute = 0, relative = 0;
};
inline constexpr Tolerance exactly{0, 0};
inline constexpr Tolerance close_in_float32{1e-6, 1e-5};
inline constexpr Tolerance close_in_float64{1e-12, 1e-11};

/// close_in_float32 or close_in_float64; exactly for integers.
inline Tolerance tolerance_of(DType dtype) {
    return dtype == float64 ? close_in_float64 : is_floating(dtype) ? close_in_float32 : exactly;
}

/// Shape and every element agree; dtypes may differ. Prints shape, worst index, both values, and how many differ.
void expect_close(const Tensor& actual, const Tensor& expected, Tolerance tolerance);
inline void expect_close(const Tensor& actual, const Tensor& expected) {
    expect_close(actual, expected, tolerance_of(actual.dtype()));
}
/// The elements in row-major order agree with `expected`.
void expect_values(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance);
inline void expect_values(const Tensor& actual, const std::vector<double>& expected) {
    expect_values(actual, expected, tolerance_of(actual.dtype()));
}
/// Same shape, dtype and bits.
void expect_same_bits(const Tensor& actual, const Tensor& expected);

/// ‖actual − expected‖ ≤ tolerance·max(‖expected‖, 1e-3·scale); scale is the norm of everything of its kind, so that a
/// gradient which is zero in theory may be as small as rounding makes it.
void expect_close_in_norm(const std::string& what, const Tensor& actual, const Tensor& expected, double tolerance,
                          double scale = 0);
/// √Σ x².
double norm_of(const Tensor& x);

using Op = std::function<Tensor(const std::vector<Tensor>&)>;

namespace detail {

template <std::size_t>
using One = const Tensor&;

template <class F, std::size_t... I>
Op take_each(F f, std::index_sequence<I...>) {
    return [f](const std::vector<Tensor>& x) {
        INFO("the op takes " << sizeof...(I) << " tensors, there are " << x.size());
        REQUIRE(x.size() == sizeof...(I));
        return f(x[I]...);
    };
}
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_r_v<Tensor, F, One<I>...>;
}
template <class F, std::size_t Count = 1>
Op op_of(F f) {
    static_assert(Count <= 8, "f must take tensors, one after the other or as a std::vector, and give a tensor");
    if constexpr (std::is_invocable_r_v<Tensor, F, const std::vector<Tensor>&>)
        return f;
    else if constexpr (takes<F>(std::make_index_sequence<Count>()))
        return take_each(f, std::make_index_sequence<Count>());
    else
        return op_of<F, Count + 1>(f);
}

void expect_grad(const Op& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options);
void expect_golden(const std::string& name, const Op& f);
void expect_same_on_any_thread_count(const Op& f, const std::vector<Tensor>& inputs);

}  // namespace detail

/// Everything that every op owes, with float64 inputs (integer tensors are passed on as they are):
/// - backward agrees with differences;
/// - float32 agrees with float64, in values and gradients;
/// - gradients add up when backward comes twice;
/// - an input that asks for a gradient alone gets the same one as among others;
/// - where all inputs have one shape: the same tensor in every place;
/// - nothing is recorded under NoGrad, and inputs are left as they are.
/// f takes tensors (one after the other, or as a std::vector) and gives a tensor.
template <class F, class... Inputs>
requires(std::is_convertible_v<const Inputs&, Tensor>&&...) void expect_grad(F f, const Inputs&... inputs) {
    detail::expect_grad(detail::op_of(f), {inputs...}, {});
}
/// The same with gradcheck's options: expect_grad({.skip_kinks = true}, relu, x).
template <class F, class... Inputs>
void expect_grad(const GradcheckOptions& options, F f, const Inputs&... inputs) {
    detail::expect_grad(detail::op_of(f), {inputs...}, options);
}

/// The op's value agrees with that of `plain`, a loop that needs no op of gflow, in float64.
template <class F, class Plain, class... Inputs>
void expect_value(F f, Plain plain, const Inputs&... inputs) {
    expect_close(f(inputs...), plain(inputs...), close_in_float64);
}

/// Value and gradients agree with PyTorch's (tests/golden/ops.safetensors, in float64) for the case `name`:
/// to 1e-10 in float64, to 1e-5 in float32, in norm.
template <class F>
void expect_golden(const std::string& name, F f) {
    detail::expect_golden(name, detail::op_of(f));
}

/// Value and gradients have the same bits on 1 and on 3 threads. Give it inputs of several tiles (100,000 elements).
template <class F, class... Inputs>
void expect_same_on_any_thread_count(F f, const Inputs&... inputs) {
    detail::expect_same_on_any_thread_count(detail::op_of(f), {inputs...});
}

}  // namespace gflow::test

#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/create.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/to.hpp>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("a tensor tells shape, dtype and elements") {
    Tensor x = from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3});
    CHECK(x.defined());
    CHECK(x.rank() == 2);
    CHECK(x.size(0) == 2);
    CHECK(x.size(-1) == 3);
    CHECK(x.numel() == 6);
    CHECK(x.bytes() == 24);
    CHECK(x.dtype() == float32);
    CHECK(x.device() == Device::cpu());
    CHECK(x.to_vector<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(x.data<float>()[4] == 4);
    CHECK(describe(x) == "float32 [2, 3]");
    CHECK_THROWS_AS(x.size(2), index_error);
    CHECK_THROWS_WITH(x.data<double>(),
                      contains("element type must match the dtype; got asked=float64, dtype=float32"));
    CHECK_THROWS_AS(x.mutable_data<std::int64_t>(), dtype_error);
    CHECK_THROWS_AS(x.to_vector<int>(), dtype_error);
}

TEST_CASE("the only element, as any number") {
    CHECK(scalar(2.5).item<float>() == 2.5F);
    CHECK(scalar(2.5, float64).item() == 2.5);
    CHECK(full({1, 1}, 7, int64).item<int>() == 7);
    CHECK(full({1}, 1.5, bfloat16).item<double>() == 1.5);
    CHECK_THROWS_WITH(zeros({2}).item(), contains("gflow::item: exactly one element is needed; got x=float32 [2]"));
    CHECK_THROWS_AS(zeros({0}).item(), shape_error);
    CHECK_THROWS_AS(Tensor().item(), shape_error);
}

TEST_CASE("copies share memory; clone, to and detach say what they do") {
    Tensor x = zeros({3});
    Tensor same = x;
    same.mutable_data<float>()[1] = 5;
    CHECK(x.data<float>()[1] == 5);
    Tensor other = clone(x);
    other.mutable_data<float>()[1] = 6;
    CHECK(x.data<float>()[1] == 5);
    CHECK(x.detach().raw() == x.raw());
    CHECK(to(x, float32).raw() == x.raw());
    CHECK(to(x, float64).raw() != x.raw());
    CHECK(x.viewed_as({1, 3}).raw() == x.raw());
}

TEST_CASE("taking the memory to write raises its version") {
    Tensor x = zeros({2});
    const auto before = x.storage()->version();
    (void)x.data<float>();
    (void)x.raw();
    CHECK(x.storage()->version() == before);
    (void)x.mutable_data<float>();
    CHECK(x.storage()->version() > before);
    const auto middle = x.storage()->version();
    Tensor view = x.viewed_as({1, 2});
    (void)view.mutable_raw();
    CHECK(x.storage()->version() > middle);  // a view is the same memory
}

TEST_CASE("an undefined tensor has nothing") {
    Tensor none;
    CHECK_FALSE(none.defined());
    CHECK(none.raw() == nullptr);
    CHECK(none.data<float>() == nullptr);
    CHECK(none.mutable_raw() == nullptr);
    CHECK_FALSE(none.requires_grad());
    CHECK_FALSE(none.grad().defined());
    CHECK(describe(none) == "undefined");
    CHECK_FALSE(clone(none).defined());
}

TEST_CASE("what needs elements refuses an undefined tensor in its own name") {
    Tensor none, x = zeros({2});
    CHECK_THROWS_WITH(to(x.grad(), float64), contains("gflow::to: the tensor must be defined; got x=undefined"));
    CHECK_THROWS_AS(to(none, none.dtype()), error);
    CHECK_THROWS_WITH(copy_into(none, x), contains("gflow::copy_into: both tensors must be defined; "
                                                   "got destination=undefined, source=float32 [2]"));
    CHECK_THROWS_WITH(copy_into(x, none), contains("source=undefined"));
    CHECK_THROWS_WITH(zeros_like(none), contains("gflow::zeros_like: the tensor must be defined; got x=undefined"));
    CHECK_THROWS_WITH(empty_like(none), contains("gflow::empty_like: the tensor must be defined; got x=undefined"));
    CHECK_THROWS_WITH(none.set_requires_grad(),
                      contains("gflow::set_requires_grad: the tensor must be defined; got tensor=undefined"));
}

TEST_CASE("there is no other device without a CUDA backend") {
    CHECK_THROWS_AS(Device::cuda(), device_error);
    CHECK_THROWS_WITH(Device::cuda(1), contains("no CUDA backend"));
}

#include <gflow/core/errors.hpp>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("errors say who, what must hold, and what was given") {
    CHECK_THROWS_WITH(require(false, "matmul", "inner sizes must agree", {{"a", 3}, {"b", std::string_view("four")}}),
                      "gflow::matmul: inner sizes must agree; got a=3, b=four");
    CHECK_THROWS_WITH(fail("op", "something must hold"), "gflow::op: something must hold");
    CHECK_THROWS_WITH(fail("op", "flags", {{"on", true}, {"x", 0.5}}), "gflow::op: flags; got on=true, x=0.5");
    CHECK_NOTHROW(require(true, "op", "holds"));
}

TEST_CASE("every error is a gflow::error, of the kind asked for") {
    CHECK_THROWS_AS(fail("op", "shape by default"), shape_error);
    CHECK_THROWS_AS(fail<dtype_error>("op", "x"), dtype_error);
    CHECK_THROWS_AS(fail<device_error>("op", "x"), device_error);
    CHECK_THROWS_AS(fail<index_error>("op", "x"), index_error);
    CHECK_THROWS_AS(fail<autograd_error>("op", "x"), autograd_error);
    CHECK_THROWS_AS(fail<io_error>("op", "x"), io_error);
    CHECK_THROWS_AS(fail<out_of_memory_error>("op", "x"), out_of_memory_error);
    CHECK_THROWS_AS(fail<out_of_memory_error>("op", "x"), error);
    CHECK_THROWS_AS(fail<usage_error>("op", "x"), usage_error);
    CHECK_THROWS_AS(fail<io_error>("op", "x"), error);
    CHECK_THROWS_AS(require<index_error>(false, "op", "x"), index_error);
}

namespace counted {
struct Value {
    int* prints;
};
std::string describe(const Value& value) {
    ++*value.prints;
    return "value";
}
}  // namespace counted

TEST_CASE("values are turned into text only when the error is raised") {
    int prints = 0;
    const counted::Value value{&prints};
    require(true, "op", "holds", {{"value", value}});
    CHECK(prints == 0);
    CHECK_THROWS_WITH(require(false, "op", "holds", {{"value", value}}), "gflow::op: holds; got value=value");
    CHECK(prints == 1);
}

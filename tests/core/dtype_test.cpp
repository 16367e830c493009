#include <gflow/core/dtype.hpp>

#include <sstream>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("every dtype knows its name, size and C++ type") {
    const std::tuple<DType, const char*, std::size_t, bool> table[] = {
        {float32, "float32", 4, true}, {float64, "float64", 8, true}, {bfloat16, "bfloat16", 2, true},
        {int32, "int32", 4, false},    {int64, "int64", 8, false},    {uint8, "uint8", 1, false},
    };
    for (const auto& [dtype, name, size, floating] : table) {
        CHECK(std::string(name_of(dtype)) == name);
        CHECK(size_of(dtype) == size);
        CHECK(is_floating(dtype) == floating);
        CHECK(is_integer(dtype) == !floating);
        CHECK(visit(dtype, []<class T>(T) { return dtype_of<T>; }) == dtype);
        std::ostringstream text;
        text << dtype;
        CHECK(text.str() == name);
    }
}

TEST_CASE("ops compute in float32 and float64, and take ids as int32 and int64") {
    const auto size = []<class T>(T) { return sizeof(T); };
    CHECK(visit_floating("op", float32, size) == 4);
    CHECK(visit_floating("op", float64, size) == 8);
    CHECK(visit_ids("op", int32, size) == 4);
    CHECK(visit_ids("op", int64, size) == 8);
    for (DType dtype : {bfloat16, int32, int64, uint8})
        CHECK_THROWS_WITH(
            visit_floating("op", dtype, size),
            contains(std::string("gflow::op: float32 or float64 is needed; got dtype=") + name_of(dtype)));
    for (DType dtype : {float32, float64, bfloat16, uint8}) CHECK_THROWS_AS(visit_ids("op", dtype, size), dtype_error);
    CHECK_THROWS_AS(visit(static_cast<DType>(99), size), dtype_error);
}

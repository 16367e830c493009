#include <gflow/core/create.hpp>
#include <gflow/core/print.hpp>

#include <sstream>

#include "support/catch.hpp"

using namespace gflow;

TEST_CASE("tensors print their elements, dtype and shape") {
    CHECK(to_string(scalar(1.5)) == "1.5  float32 []");
    CHECK(to_string(from_vector<double>({1, -2.25, 3})) == "[1, -2.25, 3]  float64 [3]");
    CHECK(to_string(from_vector<float>({1, 2, 3, 4}, {2, 2})) == "[[1, 2],\n [3, 4]]  float32 [2, 2]");
    CHECK(to_string(arange(8).viewed_as({2, 2, 2})) == "[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]]  int64 [2, 2, 2]");
    CHECK(to_string(full({2}, 65, uint8)) == "[65, 65]  uint8 [2]");
    CHECK(to_string(full({1}, 0.5, bfloat16)) == "[0.5]  bfloat16 [1]");
    CHECK(to_string(zeros({0})) == "[]  float32 [0]");
    CHECK(to_string(zeros({2, 0})) == "[[],\n []]  float32 [2, 0]");
    CHECK(to_string(Tensor()) == "undefined");
    CHECK(to_string(full({1}, -1.0 / 0.0)) == "[-inf]  float32 [1]");
    std::ostringstream text;
    text << arange(2);
    CHECK(text.str() == "[0, 1]  int64 [2]");
}

TEST_CASE("the middle of long axes is left out, from 1,000 elements on") {
    CHECK(to_string(arange(1001)) == "[0, 1, 2, …, 998, 999, 1000]  int64 [1001]");
    CHECK(to_string(arange(1000)).find("…") == std::string::npos);
    const std::string table = to_string(arange(40'000).viewed_as({200, 200}));
    CHECK(table.rfind("[[0, 1, 2, …, 197, 198, 199],\n [200", 0) == 0);
    CHECK(table.size() < 400);
    CHECK(to_string(arange(1500).viewed_as({500, 3})).find("[3, 4, 5],\n [6, 7, 8],\n …,\n [1491") !=
          std::string::npos);
}

#include <gflow/core/create.hpp>
#include <gflow/train/peak_memory.hpp>

#include "support/catch.hpp"

using namespace gflow;

TEST_CASE("peak_memory sees a large tensor, and forget_peak_memory starts again") {
    const Index before = peak_memory();
    if (before == 0) {
        WARN("skipped: this system does not say");
        return;
    }
    constexpr Index size = 200 << 20;
    { const Tensor large = ones({size}, uint8); }
    CHECK(peak_memory() >= size);
    forget_peak_memory();
    if (peak_memory() >= size) WARN("this system cannot start the peak again");
}

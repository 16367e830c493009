#include <gflow/train/interrupt.hpp>

#include "support/catch.hpp"

using namespace gflow;

TEST_CASE("InterruptGuard notes the first signal, and puts back what was before") {
    static volatile std::sig_atomic_t before = 0;
    std::signal(SIGTERM, [](int) { before = 1; });
    {
        const InterruptGuard guard;
        CHECK_FALSE(guard.raised());
        std::raise(SIGTERM);
        CHECK(guard.raised());
        CHECK(before == 0);
    }
    std::raise(SIGTERM);
    CHECK(before == 1);
    std::signal(SIGTERM, SIG_DFL);
    const InterruptGuard fresh;
    CHECK_FALSE(fresh.raised());
}

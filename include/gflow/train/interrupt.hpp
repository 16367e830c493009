#pragma once
#include <csignal>

namespace gflow {

namespace detail {
inline volatile std::sig_atomic_t interrupted = 0;
}

/// While one of these lives, Ctrl-C and SIGTERM only raise a flag, so that a run can finish its step and save.
/// The second signal of a kind ends the process as usual.
class InterruptGuard {
public:
    InterruptGuard() {
        detail::interrupted = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { detail::interrupted = 1; };
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
        ::sigaction(SIGINT, &action, &before_int_);
        ::sigaction(SIGTERM, &action, &before_term_);
    }
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    ~InterruptGuard() {
        ::sigaction(SIGINT, &before_int_, nullptr);
        ::sigaction(SIGTERM, &before_term_, nullptr);
    }

    bool raised() const { return detail::interrupted != 0; }

private:
    struct sigaction before_int_ {};
    struct sigaction before_term_ {};
};

}  // namespace gflow

#pragma once
#include <array>
#include <csignal>
#include <cstddef>

namespace gflow {

namespace detail {
inline volatile std::sig_atomic_t interrupted = 0;
}

/// While one of these lives, Ctrl-C, SIGTERM and a closed terminal only raise a flag, so that a run can finish its step
/// and save. The second signal of a kind ends the process as usual. A SIGHUP that is ignored (nohup) stays ignored.
class InterruptGuard {
public:
    InterruptGuard() {
        detail::interrupted = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { detail::interrupted = 1; };
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
        for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &before_[i]);
        if (before_.back().sa_handler == SIG_IGN) ::sigaction(SIGHUP, &before_.back(), nullptr);
    }
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    ~InterruptGuard() {
        for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    }

    bool raised() const { return detail::interrupted != 0; }

private:
    static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 3> before_{};
};

}  // namespace gflow

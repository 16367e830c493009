#pragma once

namespace gflow {

namespace detail {
inline thread_local bool grad_enabled = true;
}

/// Whether ops of this thread record what backward needs.
inline bool is_grad_enabled() { return detail::grad_enabled; }

/// Switches recording on or off for this thread until the end of the scope.
class GradMode {
public:
    explicit GradMode(bool enabled) : before_(detail::grad_enabled) { detail::grad_enabled = enabled; }
    GradMode(const GradMode&) = delete;
    GradMode& operator=(const GradMode&) = delete;
    ~GradMode() { detail::grad_enabled = before_; }

private:
    bool before_;
};

/// Nothing is recorded while one of these lives: for evaluation, metrics and updates of weights.
struct NoGrad : GradMode {
    NoGrad() : GradMode(false) {}
};

}  // namespace gflow

#pragma once
#include <gflow/train/format.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace gflow {

/// Whether the descriptor (1: standard output, 2: standard error) shows on a terminal that can redraw a line.
inline bool is_terminal(int descriptor) {
    const char* kind = std::getenv("TERM");
    return ::isatty(descriptor) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

/// Columns of the terminal now; 80 where nobody knows.
inline int terminal_width(int descriptor = 2) {
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Where a run is.  A total of 0 means that it is not known.
struct ProgressState {
    Index step = 0;  ///< steps done, those before a resume included
    Index total_steps = 0;
    Index tokens = 0;  ///< tokens seen so far, those before a resume included
    double epoch = 0;  ///< epochs done, as a fraction
    double total_epochs = 0;
    double loss = std::nan("");
};

struct ProgressOptions {
    double redraw_seconds = 0.1;                                   ///< on a terminal: at most one drawing in this time
    double line_seconds = 10;                                      ///< in a pipe: a line at most this often …
    Index line_steps = 0;                                          ///< … or, if above 0, every so many steps instead
    double smoothing_seconds = 10;                                 ///< how far the speed looks back
    std::function<int()> width = [] { return terminal_width(); };  ///< columns, asked at every drawing
    std::function<double()> clock = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
};

/// Shows how a run goes: on a terminal one live line, in a pipe a plain line now and then.
///
///     epoch 1.24/10  step 1,234/12,000  loss 5.123  12,345 tokens/s  3m 20s left
class Progress {
public:
    Progress(std::ostream& out, bool terminal, ProgressOptions options = {})
        : out_(out), terminal_(terminal), options_(std::move(options)) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { finish(); }

    /// Notes where the run starts, so that steps before a resume do not count as speed.
    void start(const ProgressState& state) {
        state_ = measured_ = state;
        measured_at_ = options_.clock();
    }

    /// To be called after every step; draws only when it is time to.
    void update(const ProgressState& state) {
        const double now = options_.clock();
        measure(state, now);
        state_ = state;
        pending_ = true;
        const bool due = terminal_                 ? now - shown_at_ >= options_.redraw_seconds
                         : options_.line_steps > 0 ? state.step % options_.line_steps == 0
                                                   : now - shown_at_ >= options_.line_seconds;
        if (due || !shown_) show(now);
    }

    /// Time since the last update does not count: an evaluation or a checkpoint, to be called after it.
    void skip_time() { measured_at_ = options_.clock(); }

    /// On a terminal, shows in the place of the live line what else takes time: "validating  45 %". The next update
    /// or message brings the live line back.
    void activity(std::string_view what, double done) {
        const double now = options_.clock();
        if (!terminal_ || finished_ || (shown_ && now - shown_at_ < options_.redraw_seconds)) return;
        shown_ = true;
        shown_at_ = now;
        char percent[16];
        std::snprintf(percent, sizeof percent, "  %.0f %%", std::floor(100 * done));
        const std::string line = std::string(what) + percent;
        out_ << '\r' << line.substr(0, static_cast<std::size_t>(std::max(options_.width() - 1, 0))) << "\x1b[K";
        out_.flush();
    }

    /// Prints a line of its own, above the live line.
    void message(std::string_view line) {
        clear();
        out_ << line << '\n';
        if (is_live() && measured_at_) draw();
        out_.flush();
    }

    /// Clears the live line, or prints the last state into the pipe if it has not been.  Called by the destructor.
    void finish() {
        if (finished_) return;
        if (!terminal_ && pending_) show(options_.clock());
        clear();
        out_.flush();
        finished_ = true;
    }

    /// Smoothed speed; 0 before two states are known.
    double tokens_per_second() const { return time_weight_ > 0 ? tokens_per_second_ / time_weight_ : 0; }
    double seconds_left() const {
        const double speed = time_weight_ > 0 ? steps_per_second_ / time_weight_ : 0;
        if (state_.total_steps <= 0 || speed <= 0) return std::nan("");
        return static_cast<double>(std::max<Index>(state_.total_steps - state_.step, 0)) / speed;
    }

private:
    /// Exponential averages over time; time_weight_ corrects for their start at 0.
    void measure(const ProgressState& state, double now) {
        const double elapsed = measured_at_ ? now - *measured_at_ : 0;
        if (measured_at_ && elapsed <= 0) return;  // the next update will cover these steps, too
        if (measured_at_ && state.step >= measured_.step && state.tokens >= measured_.tokens) {
            const double weight = 1 - std::exp(-elapsed / options_.smoothing_seconds);
            const auto blend = [&](double& average, double value) { average += weight * (value - average); };
            blend(tokens_per_second_, static_cast<double>(state.tokens - measured_.tokens) / elapsed);
            blend(steps_per_second_, static_cast<double>(state.step - measured_.step) / elapsed);
            blend(time_weight_, 1);
        }
        measured_ = state;
        measured_at_ = now;
    }

    void show(double now) {
        shown_ = true;
        shown_at_ = now;
        pending_ = false;
        if (terminal_)
            draw();
        else
            out_ << line_within(1000) << '\n';
        out_.flush();
    }
    bool is_live() const { return terminal_ && shown_ && !finished_; }
    void draw() { out_ << '\r' << line_within(options_.width() - 1) << "\x1b[K"; }
    void clear() {
        if (is_live()) out_ << "\r\x1b[K";
    }

    /// The line; what matters least is left out where the terminal is narrow.
    std::string line_within(int columns) const {
        struct Part {
            int rank;  // the highest goes first
            std::string text;
        };
        const auto print = [](const char* format, double value) {
            char text[64];
            std::snprintf(text, sizeof text, format, value);
            return std::string(text);
        };
        std::vector<Part> parts;
        if (state_.total_epochs > 0)
            parts.push_back({3, "epoch " + print("%.2f", state_.epoch) + "/" + print("%g", state_.total_epochs)});
        std::string steps = "step ";
        steps += format_count(state_.step);
        if (state_.total_steps > 0) steps.append("/").append(format_count(state_.total_steps));
        parts.push_back({0, steps});
        if (state_.step > 0) parts.push_back({1, "loss " + print("%.3f", state_.loss)});
        if (time_weight_ > 0) parts.push_back({4, format_count(std::llround(tokens_per_second())) + " tokens/s"});
        if (!std::isnan(seconds_left())) parts.push_back({2, format_duration(seconds_left()) + " left"});
        for (;;) {
            std::string line;
            for (const Part& part : parts) line += (line.empty() ? "" : "  ") + part.text;
            if (static_cast<int>(line.size()) <= columns) return line;
            if (parts.size() == 1) return line.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
            parts.erase(std::max_element(parts.begin(), parts.end(),
                                         [](const Part& a, const Part& b) { return a.rank < b.rank; }));
        }
    }

    std::ostream& out_;
    bool terminal_;
    ProgressOptions options_;
    ProgressState state_, measured_;
    std::optional<double> measured_at_;
    double shown_at_ = 0;
    double tokens_per_second_ = 0, steps_per_second_ = 0, time_weight_ = 0;
    bool shown_ = false, pending_ = false, finished_ = false;
};

}  // namespace gflow

#include <gflow/train/progress.hpp>

#include <sstream>

#include "support/catch.hpp"

using gflow::Progress;
using gflow::ProgressOptions;
using gflow::ProgressState;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

/// A progress display with a clock and a width that the test sets.
struct Watched {
    double now = 100;
    int width = 200;
    std::ostringstream out;
    Progress progress;

    explicit Watched(bool terminal, ProgressOptions options = {}) : progress(out, terminal, with_clock(options)) {}
    ProgressOptions with_clock(ProgressOptions options) {
        options.clock = [this] { return now; };
        options.width = [this] { return width; };
        return options;
    }
    /// What was printed since the last call.
    std::string printed() {
        std::string text = out.str();
        out.str("");
        return text;
    }
    void run(gflow::Index first, gflow::Index last, double seconds_each) {
        for (gflow::Index step = first; step <= last; ++step) {
            now += seconds_each;
            progress.update({.step = step,
                             .total_steps = 12000,
                             .tokens = step * 100,
                             .epoch = 1.5,
                             .total_epochs = 10,
                             .loss = 5.1234});
        }
    }
};

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}
std::size_t redraws(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\r'));
}

}  // namespace

TEST_CASE("Progress in a pipe") {
    SECTION("prints plain lines, at once and then every ten seconds, and the end") {
        Watched watched(false);
        watched.progress.start({.total_steps = 12000});
        watched.run(1, 1, 0.5);
        CHECK(watched.printed() == "epoch 1.50/10  step 1/12,000  loss 5.123  200 tokens/s  1h 40m left\n");
        watched.run(2, 20, 0.5);
        CHECK(watched.printed().empty());
        watched.run(21, 21, 0.5);
        CHECK(watched.printed() == "epoch 1.50/10  step 21/12,000  loss 5.123  200 tokens/s  1h 39m left\n");
        watched.run(22, 1234, 0.5);
        const std::string text = watched.printed();
        CHECK(lines(text) == 60);
        CHECK(text.find('\r') == std::string::npos);
        CHECK(text.find('\x1b') == std::string::npos);
        watched.progress.finish();
        CHECK_THAT(watched.printed(), contains("step 1,234/12,000"));
        watched.progress.finish();
        CHECK(watched.printed().empty());
    }
    SECTION("or every so many steps") {
        Watched watched(false, {.line_steps = 50});
        watched.run(1, 200, 100);
        CHECK(lines(watched.printed()) == 5);  // 1, 50, 100, 150, 200
        watched.progress.finish();
        CHECK(watched.printed().empty());
    }
    SECTION("messages are lines") {
        Watched watched(false);
        watched.progress.message("hello");
        CHECK(watched.printed() == "hello\n");
    }
    SECTION("nothing at all") {
        Watched watched(false);
        watched.progress.finish();
        CHECK(watched.printed().empty());
    }
    SECTION("what is not known is left out; NaN is shown") {
        Watched watched(false, {.line_steps = 1});
        watched.progress.update({.step = 3});
        CHECK(watched.printed() == "step 3  loss nan\n");
        watched.now += 1;
        watched.progress.update({.step = 4, .tokens = 2000, .loss = 1});
        CHECK(watched.printed() == "step 4  loss 1.000  2,000 tokens/s\n");
    }
}

TEST_CASE("Progress on a terminal") {
    Watched watched(true);
    watched.progress.start({.total_steps = 12000});

    SECTION("redraws one line, at most ten times a second") {
        watched.run(1, 1, 0.01);
        CHECK(watched.printed() == "\repoch 1.50/10  step 1/12,000  loss 5.123  10,000 tokens/s  2m 00s left\x1b[K");
        watched.run(2, 1001, 0.01);
        const std::string text = watched.printed();
        CHECK(lines(text) == 0);
        CHECK(redraws(text) >= 90);
        CHECK(redraws(text) <= 101);
        watched.progress.finish();
        CHECK(watched.printed() == "\r\x1b[K");
    }
    SECTION("never reaches the last column; what matters least goes first") {
        watched.run(1, 50, 1);
        watched.printed();
        const auto at_width = [&](int width) {
            watched.width = width;
            watched.run(51, 51, 1);
            const std::string text = watched.printed();
            return text.substr(1, text.size() - 4);
        };
        const std::string whole = "epoch 1.50/10  step 51/12,000  loss 5.123  100 tokens/s  3h 19m left";
        CHECK(at_width(200) == whole);
        for (int width = 0; width < 80; ++width)
            CHECK(at_width(width).size() <= static_cast<std::size_t>(std::max(width - 1, 0)));
        CHECK(at_width(static_cast<int>(whole.size()) + 1).size() == whole.size());
    }
    SECTION("narrow") {
        watched.width = 40;
        watched.run(1, 2, 1);
        CHECK_THAT(watched.printed(), contains("\rstep 2/12,000  loss 5.123  3h 19m left\x1b[K"));
        watched.width = 9;
        watched.run(3, 3, 1);
        CHECK(watched.printed() == "\rstep 3/1\x1b[K");
    }
    SECTION("a message stands above the live line") {
        watched.run(1, 1, 1);
        watched.printed();
        watched.progress.message("validation loss 5.0");
        const std::string text = watched.printed();
        CHECK_THAT(text, contains("\r\x1b[Kvalidation loss 5.0\n\repoch 1.50/10"));
        watched.progress.finish();
        watched.printed();
        watched.progress.message("done");
        CHECK(watched.printed() == "done\n");
    }
}

TEST_CASE("Progress measures speed") {
    Watched watched(false);

    SECTION("steps before a resume do not count") {
        watched.progress.start({.step = 5000, .total_steps = 12000, .tokens = 500000});
        watched.run(5001, 5010, 1);
        CHECK(watched.progress.tokens_per_second() == Approx(100));
        CHECK(watched.progress.seconds_left() == Approx(6990));
    }
    SECTION("time of an evaluation does not count") {
        watched.progress.start({});
        watched.run(1, 10, 1);
        watched.now += 500;
        watched.progress.skip_time();
        watched.run(11, 20, 1);
        CHECK(watched.progress.tokens_per_second() == Approx(100));
    }
    SECTION("it follows a change within some tens of seconds") {
        watched.progress.start({});
        watched.run(1, 100, 1);
        watched.run(101, 110, 4);
        CHECK(watched.progress.tokens_per_second() == Approx(25).epsilon(0.1));
    }
    SECTION("nothing is known before time passes") {
        watched.progress.start({});
        watched.run(1, 5, 0);
        CHECK(watched.progress.tokens_per_second() == 0);
        CHECK(std::isnan(watched.progress.seconds_left()));
        watched.run(6, 6, 1);
        CHECK(watched.progress.tokens_per_second() == Approx(600));
    }
}

TEST_CASE("Progress shows another activity in the place of the live line, on a terminal only") {
    Watched watched(true);
    watched.progress.activity("validating", 0.456);
    CHECK(watched.printed() == "\rvalidating  45 %\x1b[K");
    watched.progress.activity("validating", 0.5);
    CHECK(watched.printed().empty());  // too soon to draw again
    watched.now += 1;
    watched.width = 12;
    watched.progress.activity("validating", 0.999);
    CHECK(watched.printed() == "\rvalidating \x1b[K");
    watched.progress.message("done");
    CHECK(watched.printed() == "\r\x1b[Kdone\n");

    Watched piped(false);
    piped.progress.activity("validating", 0.5);
    CHECK(piped.printed().empty());
}

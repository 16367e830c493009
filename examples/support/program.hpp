#pragma once
// What the programs share: errors to exit codes, settings to options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <gflow/core/errors.hpp>
#include <iostream>
#include <new>
#include <string>

namespace program {

/// For numbers that must be greater than 0. (CLI::PositiveNumber says so with the 309 digits of the largest one.)
inline const CLI::Validator positive(
    [](const std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value > 0;
        return good ? std::string() : "'" + text + "' is no number greater than 0";
    },
    "POSITIVE");

/// Says what is wrong in one line.
inline int complain(const std::string& name, std::string what, int status) {
    std::replace(what.begin(), what.end(), '\n', ' ');
    std::cout.flush();
    std::cerr << name << ": " << what << std::endl;
    return status;
}

/// Parses the command line and runs the body, which gives the exit status: 0 done, 1 failure, 2 usage.
template <class Body>
int run(CLI::App& app, int argc, char** argv, Body body) {
    const std::string name = app.get_name();
    try {
        app.parse(argc, argv);
        const int status = body();
        if (!std::cout.flush()) return complain(name, "standard output cannot be written: is the disk full?", 1);
        return status;
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& problem) {
        return complain(name, std::string(problem.what()) + ": see " + name + " --help", 2);
    } catch (const gflow::usage_error& problem) {
        return complain(name, problem.what(), 2);
    } catch (const std::bad_alloc&) {
        return complain(name, "out of memory: lower --batch, --seq-len or the size of the model", 1);
    } catch (const std::exception& problem) {
        return complain(name, problem.what(), 1);
    }
}

}  // namespace program

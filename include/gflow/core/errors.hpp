#pragma once
#include <concepts>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace gflow {

/// Every exception that gflow throws. what() reads `gflow::<op>: <what must hold>; got <name>=<value>, …`.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct shape_error : error {
    using error::error;
};
struct dtype_error : error {
    using error::error;
};
struct device_error : error {
    using error::error;
};
/// An id, axis or position outside its range.
struct index_error : error {
    using error::error;
};
/// A gradient was asked for that cannot be given: graph released, saved tensor changed, no graph.
struct autograd_error : error {
    using error::error;
};
/// The system has no memory left for a tensor.
struct out_of_memory_error : error {
    using error::error;
};
/// A file is missing, unreadable, damaged, or cannot be written.
struct io_error : error {
    using error::error;
};
/// A setting or option that is unknown, out of range, or contradicts another.
struct usage_error : error {
    using error::error;
};

inline std::string describe(std::string_view text) { return std::string(text); }
template <class Number>
requires std::is_arithmetic_v<Number> std::string describe(Number value) {
    std::ostringstream text;
    text << std::boolalpha << value;
    return text.str();
}

/// A name and a value for an error message; the value is turned into text only when the error is raised.
class Named {
public:
    template <class Value>
    Named(std::string_view name, const Value& value)
        : name_(name),
          value_(&value),
          print_([](const void* pointer) { return describe(*static_cast<const Value*>(pointer)); }) {}
    std::string text() const { return std::string(name_) + "=" + print_(value_); }

private:
    std::string_view name_;
    const void* value_;
    std::string (*print_)(const void*);
};

/// Throws Error with a message in gflow's grammar.
template <class Error = shape_error>
[[noreturn]] void fail(std::string_view op, std::string_view requirement, std::initializer_list<Named> got = {}) {
    std::string message = "gflow::" + std::string(op) + ": " + std::string(requirement);
    const char* separator = "; got ";
    for (const Named& named : got) {
        message += separator + named.text();
        separator = ", ";
    }
    throw Error(message);
}

/// Checks a precondition at the door of an op.
template <class Error = shape_error>
void require(bool holds, std::string_view op, std::string_view requirement, std::initializer_list<Named> got = {}) {
    if (!holds) [[unlikely]]
        fail<Error>(op, requirement, got);
}

}  // namespace gflow

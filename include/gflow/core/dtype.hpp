#pragma once
#include <gflow/core/bfloat16.hpp>
#include <gflow/core/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

namespace gflow {

/// The type of a tensor's elements, known at run time.
enum class DType : std::uint8_t { float32, float64, bfloat16, int32, int64, uint8 };

inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;
inline constexpr DType bfloat16 = DType::bfloat16;
inline constexpr DType int32 = DType::int32;
inline constexpr DType int64 = DType::int64;
inline constexpr DType uint8 = DType::uint8;

namespace detail {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
    static constexpr DType value = float32;
};
template <>
struct DTypeOf<double> {
    static constexpr DType value = float64;
};
template <>
struct DTypeOf<bfloat16_t> {
    static constexpr DType value = bfloat16;
};
template <>
struct DTypeOf<std::int32_t> {
    static constexpr DType value = int32;
};
template <>
struct DTypeOf<std::int64_t> {
    static constexpr DType value = int64;
};
template <>
struct DTypeOf<std::uint8_t> {
    static constexpr DType value = uint8;
};
}  // namespace detail

/// The dtype whose elements are of C++ type T.
template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

/// Calls f with a value of the C++ type that dtype stands for: `visit(dtype, [&]<class T>(T) { … })`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
    switch (dtype) {
        case DType::float32:
            return f(float{});
        case DType::float64:
            return f(double{});
        case DType::bfloat16:
            return f(bfloat16_t{});
        case DType::int32:
            return f(std::int32_t{});
        case DType::int64:
            return f(std::int64_t{});
        case DType::uint8:
            return f(std::uint8_t{});
    }
    fail<dtype_error>("visit", "a known dtype is needed");
}

/// Size of one element in bytes.
inline std::size_t size_of(DType dtype) {
    return visit(dtype, []<class T>(T) { return sizeof(T); });
}

inline const char* name_of(DType dtype) {
    switch (dtype) {
        case DType::float32:
            return "float32";
        case DType::float64:
            return "float64";
        case DType::bfloat16:
            return "bfloat16";
        case DType::int32:
            return "int32";
        case DType::int64:
            return "int64";
        case DType::uint8:
            return "uint8";
    }
    return "unknown";
}

inline bool is_floating(DType dtype) { return dtype == float32 || dtype == float64 || dtype == bfloat16; }
inline bool is_integer(DType dtype) { return !is_floating(dtype); }

inline std::string describe(DType dtype) { return name_of(dtype); }
inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

/// visit for the two dtypes that ops compute in; others are refused in the name of `op`.
template <class F>
decltype(auto) visit_floating(std::string_view op, DType dtype, F&& f) {
    if (dtype == float32) return f(float{});
    if (dtype == float64) return f(double{});
    fail<dtype_error>(op, "float32 or float64 is needed", {{"dtype", dtype}});
}

/// visit for the two dtypes of ids.
template <class F>
decltype(auto) visit_ids(std::string_view op, DType dtype, F&& f) {
    if (dtype == int64) return f(std::int64_t{});
    if (dtype == int32) return f(std::int32_t{});
    fail<dtype_error>(op, "ids must be int32 or int64", {{"dtype", dtype}});
}

}  // namespace gflow

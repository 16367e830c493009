#pragma once
#include <gflow/core/convert.hpp>
#include <gflow/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gflow {

/// A tensor whose elements are not initialised.
/// @throws shape_error if no machine could count its bytes
inline Tensor empty(Shape shape, DType dtype = float32, Device = Device::cpu()) {
    return Tensor(std::make_shared<Storage>(bytes_of(shape, dtype)), 0, shape, dtype);
}
/// @throws error if x is undefined
inline Tensor empty_like(const Tensor& x) {
    detail::require_defined("empty_like", x);
    return empty(x.shape(), x.dtype(), x.device());
}

inline Tensor zeros(Shape shape, DType dtype = float32, Device device = Device::cpu()) {
    Tensor x = empty(shape, dtype, device);
    std::memset(x.mutable_raw(), 0, x.bytes());  // all bits zero is 0 in every dtype
    return x;
}
/// @throws error if x is undefined
inline Tensor zeros_like(const Tensor& x) {
    detail::require_defined("zeros_like", x);
    return zeros(x.shape(), x.dtype(), x.device());
}

/// Every element is `value`, converted to dtype; cut towards zero where that is an integer type.
/// @throws dtype_error if the dtype cannot hold it
inline Tensor full(Shape shape, double value, DType dtype = float32, Device device = Device::cpu()) {
    return visit(dtype, [&]<class T>(T) {
        const T element = detail::convert_element<T>("full", value);
        if constexpr (!std::is_integral_v<T>)
            require<dtype_error>(
                !std::isfinite(value) || std::isfinite(static_cast<float>(element)) || dtype == float64, "full",
                "the dtype must be able to hold the value", {{"value", value}, {"dtype", dtype}});
        Tensor x = empty(shape, dtype, device);
        std::fill_n(x.mutable_data<T>(), x.numel(), element);
        return x;
    });
}
inline Tensor ones(Shape shape, DType dtype = float32, Device device = Device::cpu()) {
    return full(shape, 1, dtype, device);
}
/// A tensor of rank 0.
inline Tensor scalar(double value, DType dtype = float32) { return full(Shape{}, value, dtype); }

/// 0, 1, …, n−1
/// @throws dtype_error if an integer dtype cannot hold n−1;  shape_error if n is negative
inline Tensor arange(Index n, DType dtype = int64) {
    require(n >= 0, "arange", "the number of elements must not be negative", {{"n", n}});
    return visit(dtype, [&]<class T>(T) {
        if (n > 0) detail::convert_element<T>("arange", n - 1);
        Tensor x = empty({n}, dtype);
        T* out = x.mutable_data<T>();
        for (Index i = 0; i < n; ++i) out[i] = detail::convert_element<T>("arange", i);
        return x;
    });
}

/// Copies `count` elements. @throws shape_error if that is not the number of elements of shape
template <class T>
Tensor from_data(const T* elements, std::size_t count, Shape shape) {
    require(static_cast<Index>(count) == shape.numel(), "from_data", "as many values as elements are needed",
            {{"values", count}, {"shape", shape}});
    Tensor x = empty(shape, dtype_of<T>);
    if (count > 0) std::memcpy(x.mutable_raw(), elements, x.bytes());
    return x;
}
template <class T>
Tensor from_vector(const std::vector<T>& elements, Shape shape) {
    return from_data(elements.data(), elements.size(), shape);
}
template <class T>
Tensor from_vector(const std::vector<T>& elements) {
    return from_vector(elements, {static_cast<Index>(elements.size())});
}

/// A tensor over memory that belongs to somebody else, without a copy; `keep_alive` (if any) is held as long as the
/// tensor or a view of it lives.
template <class T>
Tensor wrap(T* elements, Shape shape, std::shared_ptr<void> keep_alive = nullptr) {
    const std::size_t bytes = bytes_of(shape, dtype_of<T>);
    return Tensor(std::make_shared<Storage>(reinterpret_cast<std::byte*>(elements), bytes, std::move(keep_alive)), 0,
                  shape, dtype_of<T>);
}

namespace detail {

/// A copy in fresh memory, outside the graph: what ops/clone.hpp makes differentiable.
inline Tensor copied(const Tensor& x) {
    if (!x.defined()) return x;
    Tensor y = empty_like(x);
    if (x.bytes() > 0) std::memcpy(y.mutable_raw(), x.raw(), x.bytes());
    return y;
}

/// A copy in another dtype, outside the graph: what ops/to.hpp makes differentiable. x must be defined.
inline Tensor converted(const Tensor& x, DType dtype) {
    Tensor y = empty(x.shape(), dtype, x.device());
    visit(x.dtype(), [&]<class From>(From) {
        visit(dtype, [&]<class To>(To) {
            std::transform(x.data<From>(), x.data<From>() + x.numel(), y.mutable_data<To>(),
                           [](From value) { return convert_element<To>("to", value); });
        });
    });
    return y;
}

}  // namespace detail

/// Overwrites the elements of `destination`.
/// @throws shape_error, dtype_error if the two do not match;  error if one is undefined
inline void copy_into(Tensor& destination, const Tensor& source) {
    require<error>(destination.defined() && source.defined(), "copy_into", "both tensors must be defined",
                   {{"destination", destination}, {"source", source}});
    require(destination.shape() == source.shape(), "copy_into", "shapes must be equal",
            {{"destination", destination}, {"source", source}});
    require<dtype_error>(destination.dtype() == source.dtype(), "copy_into", "dtypes must be equal",
                         {{"destination", destination}, {"source", source}});
    if (source.bytes() > 0) std::memmove(destination.mutable_raw(), source.raw(), source.bytes());
}

}  // namespace gflow

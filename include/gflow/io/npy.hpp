#pragma once
#include <gflow/core/create.hpp>
#include <gflow/io/atomic_file.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// NumPy's format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): "\x93NUMPY", version, length
// of the header (2 bytes in version 1, 4 in 2 and 3), the header (a Python dict of descr, fortran_order, shape), data.

namespace gflow {
namespace detail {

static_assert(std::endian::native == std::endian::little, "gflow reads and writes little-endian files in place");

struct NpyDType {
    const char* descr;
    DType dtype;
};
inline constexpr NpyDType npy_dtypes[] = {
    {"<f4", float32}, {"<f8", float64}, {"<i4", int32}, {"<i8", int64}, {"|u1", uint8}};

/// Reads the Python dict of an npy header: strings, True, False and tuples of whole numbers, nothing else.
class NpyHeader {
public:
    std::string descr;
    bool fortran_order = false;
    std::vector<Index> shape;

    NpyHeader(std::string_view text, const std::string& path) : rest_(text), path_(path) {
        bool has_descr = false, has_order = false, has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr" && !std::exchange(has_descr, true))
                descr = descr_value();
            else if (key == "fortran_order" && !std::exchange(has_order, true))
                fortran_order = boolean();
            else if (key == "shape" && !std::exchange(has_shape, true))
                shape = tuple();
            else
                damaged("the header must have descr, fortran_order and shape, once each; got key=" + key);
            if (!accept(',') && peek() != '}') damaged("a comma or } must follow");
        }
        if (!has_descr || !has_order || !has_shape) damaged("the header must give descr, fortran_order and shape");
        if (peek() != '\0') damaged("nothing may follow the header");
    }

private:
    [[noreturn]] void damaged(const std::string& requirement) const {
        fail<io_error>("load_npy", path_ + ": header: " + requirement, {{"rest", std::string(rest_.substr(0, 40))}});
    }
    /// The next character that is no space; '\0' at the end.
    char peek() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_[0];
    }
    bool accept(char wanted) {
        const bool found = peek() == wanted && wanted != '\0';
        if (found) rest_.remove_prefix(1);
        return found;
    }
    void expect(char wanted) {
        if (!accept(wanted)) damaged(std::string(1, wanted) + " must follow");
    }
    std::string quoted() {
        const char quote = peek();
        const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
        if (end == std::string_view::npos) damaged("a quoted word must follow");
        std::string word(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return word;
    }
    std::string descr_value() {
        if (peek() == '[') damaged("arrays of structures are not read; save each field by itself");
        return quoted();
    }
    bool boolean() {
        peek();
        for (const std::string_view word : {"True", "False"}) {
            if (rest_.substr(0, word.size()) != word) continue;
            rest_.remove_prefix(word.size());
            return word == "True";
        }
        damaged("True or False must follow");
    }
    std::vector<Index> tuple() {
        std::vector<Index> sizes;
        expect('(');
        while (!accept(')')) {
            if (peek() < '0' || peek() > '9') damaged("sizes must be whole numbers, not negative");
            Index size = 0;
            for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
                if (size > (INT64_MAX - 9) / 10) damaged("the shape is too large for any file");
                size = size * 10 + (rest_[0] - '0');
            }
            sizes.push_back(size);
            if (!accept(',') && peek() != ')') damaged("a comma or ) must follow");
        }
        return sizes;
    }

    std::string_view rest_;
    std::string path_;
};

/// Copies elements that lie in column-major order (the first axis runs fastest) into a row-major tensor.
inline void copy_from_column_major(const std::byte* from, Tensor& to) {
    const std::size_t element = size_of(to.dtype());
    std::byte* out = to.mutable_raw();
    const Shape& shape = to.shape();
    Shape at(std::vector<Index>(static_cast<std::size_t>(shape.rank()), 0));
    for (Index i = 0; i < to.numel(); ++i, out += element) {
        Index source = 0;
        for (Index axis = shape.rank() - 1; axis >= 0; --axis) source = source * shape[axis] + at[axis];
        std::memcpy(out, from + static_cast<std::size_t>(source) * element, element);
        for (Index axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis) at[axis] = 0;
    }
}

}  // namespace detail

/// Reads an array that NumPy saved: float32, float64, int32, int64 or uint8, little-endian, format 1.0 to 3.0.
/// Fortran order is turned into row-major order.
/// @throws io_error naming the file and what is wrong with it
inline Tensor load_npy(const std::filesystem::path& path) {
    const auto require_file = [&](bool holds, const char* requirement, std::initializer_list<Named> got) {
        if (!holds) fail<io_error>("load_npy", path.string() + ": " + requirement, got);
    };
    const MappedFile file(path, "load_npy");
    const auto bytes = file.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    require_file(text.substr(0, 6) == "\x93NUMPY" && text.size() >= 10, "this must be an npy file",
                 {{"bytes", text.size()}});
    const int format = static_cast<int>(bytes[6]);
    require_file(format >= 1 && format <= 3, "the version must be 1, 2 or 3", {{"version", format}});
    const std::size_t start = format == 1 ? 10 : 12;
    std::size_t length = 0;
    for (std::size_t i = start; i-- > 8 && text.size() >= start;)
        length = length * 256 + static_cast<std::size_t>(bytes[i]);
    require_file(text.size() >= start && length <= text.size() - start, "the header must fit into the file: cut short",
                 {{"header", length}, {"file", text.size()}});
    const detail::NpyHeader header(text.substr(start, length), path.string());

    const detail::NpyDType* found = nullptr;
    for (const detail::NpyDType& known : detail::npy_dtypes)
        if (header.descr == known.descr || (known.dtype == uint8 && header.descr == "<u1")) found = &known;
    require_file(header.descr.substr(0, 1) != ">",
                 "big-endian numbers are not read; save the array as little-endian, array.astype('<f4')",
                 {{"descr", header.descr}});
    require_file(found != nullptr, "descr must be <f4, <f8, <i4, <i8 or |u1", {{"descr", header.descr}});
    require_file(header.shape.size() <= Shape::max_rank, "a tensor has at most 8 axes",
                 {{"axes", header.shape.size()}});
    Index numel = 1;  // without zeros: [0, 2⁶², 2⁶²] must not wrap round either
    for (const Index size : header.shape) {
        require_file(size <= 0 || numel <= INT64_MAX / 8 / size, "the shape is too large for any file",
                     {{"size", size}});
        numel *= std::max<Index>(size, 1);
    }
    const Shape shape(header.shape);
    const std::size_t expected = static_cast<std::size_t>(shape.numel()) * size_of(found->dtype);
    const std::size_t data = text.size() - start - length;
    require_file(data == expected, "the data must fit shape and dtype",
                 {{"bytes", data}, {"expected", expected}, {"shape", shape}, {"descr", header.descr}});

    Tensor result = empty(shape, found->dtype);
    if (expected == 0) return result;
    const std::byte* from = bytes.data() + start + length;
    if (header.fortran_order)
        detail::copy_from_column_major(from, result);
    else
        std::memcpy(result.mutable_raw(), from, expected);
    return result;
}

/// Writes a tensor as NumPy would, format 1.0, whole or not at all.
/// @throws dtype_error for bfloat16, which NumPy has not;  io_error naming path, reason and remedy
inline void save_npy(const std::filesystem::path& path, const Tensor& x) {
    const char* op = "save_npy";
    require<io_error>(x.defined(), op, "the tensor must be defined");
    std::string header;
    for (const detail::NpyDType& known : detail::npy_dtypes)
        if (known.dtype == x.dtype()) header = std::string("{'descr': '") + known.descr;
    require<dtype_error>(!header.empty(), op, "NumPy has no such dtype; convert with to(x, float32)",
                         {{"dtype", x.dtype()}});
    header += "', 'fortran_order': False, 'shape': (";
    for (Index axis = 0; axis < x.rank(); ++axis)
        header += (axis > 0 ? ", " : "") + std::to_string(x.size(axis)) + (x.rank() == 1 ? "," : "");
    header += "), }";
    header.append(63 - (10 + header.size()) % 64, ' ');  // with the line's end, data begins at a multiple of 64
    header += '\n';
    const char start[] = {'\x93',
                          'N',
                          'U',
                          'M',
                          'P',
                          'Y',
                          1,
                          0,
                          static_cast<char>(header.size() % 256),
                          static_cast<char>(header.size() / 256)};
    AtomicFile file(path, op);
    file.write(start, sizeof start);
    file.write(header);
    file.write(x.raw(), x.bytes());
    file.commit();
}

}  // namespace gflow

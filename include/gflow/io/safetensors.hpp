#pragma once
#include <gflow/core/create.hpp>
#include <gflow/io/json_file.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// The safetensors format (https://huggingface.co/docs/safetensors): 8 bytes length of the header, little-endian; a JSON
// object {name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {text: text}}; the data, without
// holes.

namespace gflow {

/// Free text by name in the header of a safetensors file.
using Metadata = std::map<std::string, std::string>;

namespace detail {

static_assert(std::endian::native == std::endian::little, "gflow reads and writes little-endian files in place");

/// The value of an IEEE half-precision number: 1 bit sign, 5 exponent, 10 fraction.
inline float half_to_float(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = (half >> 10U) & 0x1FU, fraction = half & 0x3FFU;
    if (exponent == 0) {  // zero and subnormal numbers: fraction · 2⁻²⁴
        const float value = static_cast<float>(fraction) * 0x1p-24F;
        return sign ? -value : value;
    }
    const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + (127 - 15);
    return std::bit_cast<float>(sign | (wide << 23U) | (fraction << 13U));
}

struct FileDType {
    const char* name;   // in the file
    std::size_t bytes;  // of one element in the file
    DType dtype;        // of the tensor that it becomes
};
inline constexpr FileDType safetensors_dtypes[] = {{"F32", 4, float32}, {"F64", 8, float64}, {"BF16", 2, bfloat16},
                                                   {"I32", 4, int32},   {"I64", 8, int64},   {"U8", 1, uint8},
                                                   {"F16", 2, float32}};

/// Null for a dtype that gflow has not.
inline const FileDType* find_safetensors_dtype(const std::string& name) {
    for (const FileDType& known : safetensors_dtypes)
        if (name == known.name) return &known;
    return nullptr;
}

inline const char* safetensors_name(DType dtype) {
    for (const FileDType& known : safetensors_dtypes)
        if (dtype == known.dtype) return known.name;
    fail<dtype_error>("save_safetensors", "a dtype of the format is needed", {{"dtype", dtype}});
}

}  // namespace detail

/// A safetensors file, checked when it is opened and mapped into memory; its tensors are read one at a time.
class SafetensorsFile {
public:
    /// What the header says about one tensor.
    struct Entry {
        std::string dtype;  ///< as in the file: "F32", "F16", …
        Shape shape;
        std::size_t begin = 0, end = 0;  ///< bytes, from the start of the data
    };

    /// @throws io_error naming the file, what is wrong with it, and the tensor where it is one
    explicit SafetensorsFile(const std::filesystem::path& path)
        : path_(path.string()), file_(path, "load_safetensors") {
        constexpr std::size_t header_limit = 100'000'000;  // that of the format's own library
        const auto bytes = file_.bytes();
        if (bytes.size() < 8) damaged("a safetensors file has at least 8 bytes", {{"bytes", bytes.size()}});
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data(), 8);
        if (length > header_limit || length > bytes.size() - 8)
            damaged("the header must fit into the file and 100 MB: no safetensors file, or cut short",
                    {{"header", length}, {"file", bytes.size()}});
        const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + 8,
                                      static_cast<std::size_t>(length));
        data_ = bytes.subspan(8 + header.size());
        const auto json = parse_json(header, path_ + ": header", "load_safetensors");
        if (!json.is_object()) damaged("the header must be a JSON object");
        for (const auto& [name, value] : json.items()) {
            if (name == "__metadata__")
                read_metadata(value);
            else
                entries_.emplace(name, read_entry(name, value));
        }
        check_layout();
    }

    using Entries = std::map<std::string, Entry, std::less<>>;
    const Entries& entries() const& { return entries_; }
    Entries entries() && { return std::move(entries_); }
    bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
    const Metadata& metadata() const& { return metadata_; }
    Metadata metadata() && { return std::move(metadata_); }

    /// Reads one tensor; F16 becomes float32.
    /// @throws io_error if there is none of that name, or its dtype is none of gflow's
    Tensor tensor(std::string_view name) const {
        const auto found = entries_.find(name);
        if (found == entries_.end()) damaged("there must be a tensor of that name", {{"name", name}});
        const Entry& entry = found->second;
        const detail::FileDType* dtype = detail::find_safetensors_dtype(entry.dtype);
        if (dtype == nullptr)
            damaged("tensor \"" + found->first + "\": dtype must be F32, F64, BF16, F16, I32, I64 or U8",
                    {{"dtype", entry.dtype}});
        Tensor result = empty(entry.shape, dtype->dtype);
        if (entry.begin == entry.end) return result;
        const std::byte* from = data_.data() + entry.begin;
        if (entry.dtype == "F16") {
            float* to = result.mutable_data<float>();
            for (Index i = 0; i < result.numel(); ++i) {
                std::uint16_t half = 0;
                std::memcpy(&half, from + 2 * i, 2);
                to[i] = detail::half_to_float(half);
            }
        } else {
            std::memcpy(result.mutable_raw(), from, entry.end - entry.begin);
        }
        return result;
    }

private:
    [[noreturn]] void damaged(const std::string& requirement, std::initializer_list<Named> got = {}) const {
        fail<io_error>("load_safetensors", path_ + ": " + requirement, got);
    }

    void read_metadata(const nlohmann::json& value) {
        if (!value.is_object()) damaged("__metadata__ must be an object of strings");
        for (const auto& [key, text] : value.items()) {
            if (!text.is_string()) damaged("__metadata__ must hold strings", {{"key", key}, {"value", text.dump()}});
            metadata_[key] = text.get<std::string>();
        }
    }

    /// A whole number from 0 to 2⁶³−1.
    static bool is_size(const nlohmann::json& value) {
        return value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX;
    }

    Entry read_entry(const std::string& name, const nlohmann::json& value) const {
        const std::string of = "tensor \"" + name + "\": ";
        if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
            !value.contains("data_offsets"))
            damaged(of + "the header must give dtype, shape and data_offsets", {{"header", value.dump()}});
        const auto &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
        if (!dtype.is_string()) damaged(of + "dtype must be text", {{"dtype", dtype.dump()}});
        if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), is_size))
            damaged(of + "shape must be a list of sizes", {{"shape", shape.dump()}});
        if (shape.size() > Shape::max_rank) damaged(of + "a tensor has at most 8 axes", {{"shape", shape.dump()}});
        if (!offsets.is_array() || offsets.size() != 2 || !std::all_of(offsets.begin(), offsets.end(), is_size))
            damaged(of + "data_offsets must be [begin, end]", {{"data_offsets", offsets.dump()}});
        Entry entry{dtype.get<std::string>(), {}, offsets[0].get<std::size_t>(), offsets[1].get<std::size_t>()};
        if (entry.begin > entry.end || entry.end > data_.size())
            damaged(of + "data_offsets must lie in order inside the data: damaged, or cut short",
                    {{"data_offsets", offsets.dump()}, {"data", data_.size()}});
        constexpr Index limit = INT64_MAX / 8;  // so that elements × bytes fits, too
        Index numel = 1;                        // without zeros: [0, 2⁶², 2⁶²] must not wrap round either
        for (const auto& element : shape) {
            const auto size = element.get<Index>();
            if (size > 0 && numel > limit / size)
                damaged(of + "the shape is too large for any file", {{"shape", shape.dump()}});
            numel *= std::max<Index>(size, 1);
            entry.shape.push_back(size);
        }
        const detail::FileDType* known = detail::find_safetensors_dtype(entry.dtype);
        const std::size_t bytes = entry.end - entry.begin;
        if (known != nullptr && bytes != static_cast<std::size_t>(entry.shape.numel()) * known->bytes)
            damaged(of + "data_offsets must fit shape and dtype",
                    {{"bytes", bytes}, {"shape", entry.shape}, {"dtype", entry.dtype}});
        return entry;
    }

    /// The tensors must cover the data without overlap, hole or rest.
    void check_layout() const {
        std::vector<const Entries::value_type*> order;
        for (const auto& item : entries_) order.push_back(&item);
        std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
            return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
        });
        std::size_t position = 0;
        for (const auto* item : order) {
            if (item->second.begin != position)
                damaged("tensor \"" + item->first + "\": tensors must follow each other without " +
                            (item->second.begin < position ? "overlap" : "hole"),
                        {{"begin", item->second.begin}, {"end of the one before", position}});
            position = item->second.end;
        }
        if (position != data_.size())
            damaged("nothing may follow the last tensor", {{"data", data_.size()}, {"end of the last", position}});
    }

    std::string path_;
    MappedFile file_;
    std::span<const std::byte> data_;
    Entries entries_;
    Metadata metadata_;
};

/// All tensors of a file.  F16 becomes float32.
/// @throws io_error naming the file, what is wrong with it, and the tensor where it is one
inline TensorMap load_safetensors(const std::filesystem::path& path) {
    const SafetensorsFile file(path);
    TensorMap tensors;
    for (const auto& [name, entry] : file.entries()) tensors.emplace(name, file.tensor(name));
    return tensors;
}

/// The metadata of a file; its tensors are not read.
/// @throws io_error
inline Metadata load_metadata(const std::filesystem::path& path) { return SafetensorsFile(path).metadata(); }

/// Writes tensors and metadata, whole or not at all.  The same content gives the same bytes: larger elements come first
/// (so that each tensor is aligned to its own), then names in order.
/// @throws io_error naming path, reason and remedy, or the tensor that cannot be saved
inline void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                             const Metadata& metadata = {}) {
    const char* op = "save_safetensors";
    std::vector<const TensorMap::value_type*> order;
    for (const auto& item : tensors) {
        require<io_error>(item.first != "__metadata__", op, "no tensor may be named __metadata__");
        require<io_error>(item.second.defined(), op, "tensors must be defined", {{"name", item.first}});
        order.push_back(&item);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return size_of(a->second.dtype()) > size_of(b->second.dtype());
    });
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::size_t position = 0;
    for (const auto* item : order) {
        const Tensor& x = item->second;
        header[item->first] = {{"dtype", detail::safetensors_name(x.dtype())},
                               {"shape", std::vector<Index>(x.shape().begin(), x.shape().end())},
                               {"data_offsets", {position, position + x.bytes()}}};
        position += x.bytes();
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::type_error&) {
        fail<io_error>(op, path.string() + ": names and metadata must be UTF-8");
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const auto length = static_cast<std::uint64_t>(text.size());
    AtomicFile file(path, op);
    file.write(&length, 8);
    file.write(text);
    for (const auto* item : order) file.write(item->second.raw(), item->second.bytes());
    file.commit();
}

}  // namespace gflow

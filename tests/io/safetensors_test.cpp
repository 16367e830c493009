#include <gflow/io/safetensors.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using gflow::from_vector;
using gflow::load_metadata;
using gflow::load_safetensors;
using gflow::SafetensorsFile;
using gflow::save_safetensors;
using gflow::Shape;
using gflow::Tensor;
using gflow::TensorMap;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

namespace {

bool same_tensor(const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

bool same(const TensorMap& a, const TensorMap& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
               return x.first == y.first && same_tensor(x.second, y.second);
           });
}

/// The bytes of a file with this header and data.
std::string file_of(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

TensorMap every_dtype() {
    const float inf = std::numeric_limits<float>::infinity();
    return {{"a.f32", from_vector<float>({1.5F, -0.0F, inf, -inf, std::nanf(""), 1e-45F}, {2, 3})},
            {"b.f64", from_vector<double>({0.1, -1e300}, {2, 1, 1})},
            {"c.bf16", from_vector<gflow::bfloat16_t>({gflow::bfloat16_t(3.0F)}, {1})},
            {"d.i32", from_vector<std::int32_t>({INT32_MIN, 7}, {2})},
            {"e.i64", from_vector<std::int64_t>({INT64_MIN, INT64_MAX, 0}, {3})},
            {"f.u8", from_vector<std::uint8_t>({0, 255, 7}, {3})},
            {"g.scalar", gflow::scalar(2.5)},
            {"h.empty", gflow::empty({0, 3})},
            {"ä \"quoted\"", gflow::scalar(1)}};
}

}  // namespace

TEST_CASE("safetensors come back the same") {
    TemporaryFolder folder;
    const auto file = folder / "x.safetensors";

    SECTION("every dtype, scalars, empty tensors, metadata") {
        const gflow::Metadata metadata = {{"format", "gflow"}, {"note", "ä\n\"x\""}, {"", ""}};
        save_safetensors(file, every_dtype(), metadata);
        CHECK(same(load_safetensors(file), every_dtype()));
        CHECK(load_metadata(file) == metadata);
    }
    SECTION("nothing at all") {
        save_safetensors(file, {});
        CHECK(load_safetensors(file).empty());
        CHECK(load_metadata(file).empty());
        CHECK(std::filesystem::file_size(file) == 16);
    }
    SECTION("same content, same bytes; data aligned") {
        save_safetensors(file, every_dtype(), {{"b", "1"}, {"a", "2"}});
        const std::string bytes = gflow::read_file(file);
        save_safetensors(file, every_dtype(), {{"a", "2"}, {"b", "1"}});
        CHECK(gflow::read_file(file) == bytes);
        std::uint64_t header = 0;
        std::memcpy(&header, bytes.data(), 8);
        CHECK(header % 8 == 0);
        CHECK(bytes[8] == '{');
        for (const auto& [name, entry] : SafetensorsFile(file).entries()) {
            INFO(name);
            const std::size_t element = entry.shape.numel() == 0
                                            ? 1
                                            : (entry.end - entry.begin) / static_cast<std::size_t>(entry.shape.numel());
            CHECK(entry.begin % element == 0);
        }
    }
    SECTION("a view is saved as what it shows") {
        const Tensor x = from_vector<float>({1, 2, 3, 4}, {2, 2});
        save_safetensors(file, {{"row", x.viewed_as({2}, 8)}});
        CHECK(load_safetensors(file).at("row").to_vector<float>() == std::vector<float>{3, 4});
    }
    SECTION("one tensor at a time, also after the file has been replaced") {
        save_safetensors(file, every_dtype());
        const SafetensorsFile lazy(file);
        save_safetensors(file, {});
        CHECK(lazy.contains("d.i32"));
        CHECK_FALSE(lazy.contains("d"));
        CHECK(lazy.entries().at("b.f64").shape == Shape{2, 1, 1});
        CHECK(same_tensor(lazy.tensor("e.i64"), every_dtype().at("e.i64")));
        CHECK_THROWS_AS(lazy.tensor("none"), gflow::io_error);
        CHECK_THROWS_WITH(lazy.tensor("none"), contains("there must be a tensor of that name; got name=none"));
    }
}

TEST_CASE("safetensors of half precision become float32") {
    TemporaryFolder folder;
    // 0, −0, 1, −2, largest, smallest subnormal, largest subnormal, smallest normal, ∞, −∞, NaN, 1/3
    const std::uint16_t half[] = {0, 0x8000, 0x3C00, 0xC000, 0x7BFF, 1, 0x03FF, 0x0400, 0x7C00, 0xFC00, 0x7E00, 0x3555};
    const std::string data(reinterpret_cast<const char*>(half), sizeof half);
    gflow::write_file(folder / "x", file_of(R"({"x":{"dtype":"F16","shape":[12],"data_offsets":[0,24]}})", data));
    const Tensor tensor = load_safetensors(folder / "x").at("x");
    REQUIRE(tensor.dtype() == gflow::float32);
    const auto x = tensor.to_vector<float>();
    const std::vector<float> expected = {0, -0.0F, 1, -2, 65504, 0x1p-24F, 0x1.FF8p-15F, 0x1p-14F};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(x[i] == expected[i]);
    CHECK(std::signbit(x[1]));
    CHECK((std::isinf(x[8]) && x[8] > 0));
    CHECK((std::isinf(x[9]) && x[9] < 0));
    CHECK(std::isnan(x[10]));
    CHECK(x[11] == 0.333251953125F);
}

TEST_CASE("damaged safetensors are refused by name") {
    TemporaryFolder folder;
    const auto file = folder / "x.safetensors";
    const auto refuses = [&](const std::string& bytes, const std::string& part) {
        INFO(bytes);
        gflow::write_file(file, bytes);
        CHECK_THROWS_AS(load_safetensors(file), gflow::io_error);
        CHECK_THROWS_WITH(load_safetensors(file),
                          contains("gflow::load_safetensors: " + file.string() + ": ") && contains(part));
    };
    const auto refuses_entry = [&](const std::string& entry, const std::string& part) {
        refuses(file_of("{\"w\":" + entry + "}", std::string(16, 'x')), part);
    };
    const auto with = [](const std::string& shape, const std::string& offsets) {
        return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
    };

    SECTION("header") {
        refuses("", "at least 8 bytes; got bytes=0");
        refuses("1234567", "got bytes=7");
        refuses(std::string(8, '\xff'), "the header must fit into the file");
        refuses(file_of("{}", "").substr(0, 9), "the header must fit into the file");
        refuses(file_of("", ""), "header: line 1, column 1");
        refuses(file_of("{\"a\": ", ""), "header: line 1, column 7");
        refuses(file_of("[1]", ""), "the header must be a JSON object");
        refuses(file_of(std::string(100000, '['), ""), "nest deeper");
        refuses(file_of(R"({"__metadata__":3})", ""), "__metadata__ must be an object");
        refuses(file_of(R"({"__metadata__":{"k":3}})", ""), "must hold strings; got key=k, value=3");
        const std::string entry = with("[4]", "[0,16]");
        refuses(file_of("{\"w\":" + entry + ",\"w\":" + entry + "}", std::string(16, 'x')), "\"w\" twice");
    }
    SECTION("entry") {
        refuses_entry("3", "tensor \"w\": the header must give dtype, shape and data_offsets; got header=3");
        refuses_entry(R"({"dtype":"F32","shape":[4]})", "must give dtype, shape and data_offsets");
        refuses_entry(R"({"dtype":3,"shape":[4],"data_offsets":[0,16]})", "dtype must be text; got dtype=3");
        refuses_entry(R"({"dtype":"F8_E4M3","shape":[16],"data_offsets":[0,16]})",
                      "tensor \"w\": dtype must be F32, F64, BF16, F16, I32, I64 or U8; got dtype=F8_E4M3");
        for (const char* shape : {"[-4]", "[4.0]", "[1e1]", "4", "[\"4\"]", "null", "[18446744073709551615]"})
            refuses_entry(with(shape, "[0,16]"), "shape must be a list of sizes; got shape=");
        refuses_entry(with("[4294967296,4294967296]", "[0,16]"), "too large");
        refuses_entry(with("[0,4294967296,4294967296]", "[0,0]"), "too large");
        refuses_entry(with("[9223372036854775807]", "[0,16]"), "too large");
        refuses_entry(with("[1,1,1,1,1,1,1,1,4]", "[0,16]"), "at most 8 axes");
        for (const char* offsets : {"[0]", "[0,8,16]", "[-1,16]", "[0.0,16]", "{}", "[0,18446744073709551615]"})
            refuses_entry(with("[4]", offsets), "data_offsets must be [begin, end]");
        refuses_entry(with("[4]", "[16,0]"), "inside the data");
        refuses_entry(with("[5]", "[0,20]"), "cut short; got data_offsets=[0,20], data=16");
        refuses_entry(with("[3]", "[0,16]"), "must fit shape and dtype; got bytes=16, shape=[3], dtype=F32");
        refuses_entry(with("[]", "[0,16]"), "must fit shape and dtype");
    }
    SECTION("layout") {
        const auto two = [&](const std::string& a, const std::string& b) {
            return file_of("{\"a\":" + a + ",\"b\":" + b + "}", std::string(16, 'x'));
        };
        refuses(two(with("[2]", "[0,8]"), with("[2]", "[4,12]")),
                "tensor \"b\": tensors must follow each other without overlap");
        refuses(two(with("[2]", "[0,8]"), with("[1]", "[12,16]")),
                "without hole; got begin=12, end of the one before=8");
        refuses_entry(with("[3]", "[4,16]"), "without hole");
        refuses_entry(with("[3]", "[0,12]"), "nothing may follow the last tensor; got data=16, end of the last=12");
    }
    SECTION("other tensors of a file with an unknown dtype can be read") {
        const std::string entries =
            R"("q":{"dtype":"I4","shape":[4],"data_offsets":[0,2]},"w":)" + with("[1]", "[2,6]");
        gflow::write_file(file, file_of("{" + entries + "}", std::string("??\0\0\x80\x3f", 6)));
        const SafetensorsFile lazy(file);
        CHECK(lazy.tensor("w").to_vector<float>() == std::vector<float>{1});  // at an odd address, too
        CHECK_THROWS_WITH(lazy.tensor("q"), contains("tensor \"q\": dtype must be") && contains("got dtype=I4"));
    }
    SECTION("files that are none") {
        CHECK_THROWS_WITH(load_safetensors(folder / "none"),
                          contains("cannot read " + (folder / "none").string() + ": No such file or directory"));
        CHECK_THROWS_WITH(load_safetensors(folder.path()), contains("Is a directory"));
    }
}

TEST_CASE("safetensors with flipped bits or cut short are read or refused, nothing else") {
    TemporaryFolder folder;
    const auto file = folder / "x.safetensors";
    save_safetensors(file,
                     {{"a", from_vector<float>({1, 2, 3}, {3})}, {"b", gflow::scalar(1)}, {"c", gflow::empty({2, 0})}},
                     {{"k", "v"}});
    const std::string whole = gflow::read_file(file);
    std::size_t read = 0, refused = 0;
    const auto attempt = [&](const std::string& bytes) {
        gflow::write_file(file, bytes);
        try {
            load_safetensors(file);
            ++read;
        } catch (const gflow::io_error&) {  // any other exception fails the test
            ++refused;
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length) attempt(whole.substr(0, length));
    CHECK(read == 0);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int change : {0x01, 0x02, 0x04, 0x10, 0x20, 0x80, 0xFF}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            attempt(bytes);
        }
    }
    CHECK(read > 0);  // a flip in the data shows nothing
    CHECK(refused > whole.size());
}

TEST_CASE("save_safetensors refuses what the format cannot hold") {
    TemporaryFolder folder;
    const auto file = folder / "x.safetensors";
    save_safetensors(file, {{"a", gflow::scalar(1)}});
    const std::string earlier = gflow::read_file(file);
    CHECK_THROWS_WITH(save_safetensors(file, {{"__metadata__", gflow::scalar(1)}}), contains("may be named"));
    CHECK_THROWS_WITH(save_safetensors(file, {{"x", Tensor()}}), contains("tensors must be defined; got name=x"));
    CHECK_THROWS_AS(save_safetensors(file, {{"\xff", gflow::scalar(1)}}), gflow::io_error);
    CHECK_THROWS_AS(save_safetensors(file, {}, {{"k", "\xff"}}), gflow::io_error);
    CHECK_THROWS_WITH(save_safetensors(file / "x", {}), contains("gflow::save_safetensors: cannot write"));
    CHECK_THROWS_WITH(save_safetensors("/dev/full", {{"a", gflow::zeros({9})}}), contains("No space left on device"));
    CHECK(gflow::read_file(file) == earlier);
    CHECK(folder.names() == std::vector<std::string>{"x.safetensors"});
}

TEST_CASE("safetensors of other libraries") {
    const auto data = gflow::test::data_dir();
    if (!data) {
        WARN("skipped: GFLOW_DATA is not set");
        return;
    }
    TemporaryFolder folder;
    const auto burn = load_safetensors(gflow::test::data_file(*data, "formats/burn_multi_layer.safetensors"));
    CHECK(burn.at("conv1.weight").shape() == Shape{4, 3, 3, 3});
    CHECK(burn.at("norm1.num_batches_tracked").shape() == Shape{});
    CHECK(burn.at("norm1.num_batches_tracked").dtype() == gflow::int64);
    const auto candle = load_safetensors(gflow::test::data_file(*data, "formats/candle_jfk-codes.safetensors"));
    REQUIRE(candle.at("codes").shape() == Shape{1, 2, 828});
    CHECK(candle.at("codes").data<std::int64_t>()[0] == 0x361);
    CHECK(candle.at("codes").data<std::int64_t>()[1] == 0x3E);
    for (const TensorMap& tensors : {burn, candle}) {
        save_safetensors(folder / "again", tensors);
        CHECK(same(load_safetensors(folder / "again"), tensors));
    }
}

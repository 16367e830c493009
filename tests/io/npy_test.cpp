#include <gflow/io/npy.hpp>

#include <cmath>
#include <cstdint>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using gflow::from_vector;
using gflow::load_npy;
using gflow::save_npy;
using gflow::Shape;
using gflow::Tensor;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

namespace {

std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255U);
    return bytes + header + data;
}

template <class T>
std::string bytes_of(std::vector<T> values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

bool same(const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

}  // namespace

TEST_CASE("npy arrays come back the same") {
    TemporaryFolder folder;
    const auto file = folder / "x.npy";
    for (const Tensor& x :
         {from_vector<float>({1.5F, -0.0F, std::nanf(""), INFINITY}, {2, 2}), from_vector<double>({0.1}, {1}),
          from_vector<std::int32_t>({INT32_MIN, 7}, {1, 2, 1}), from_vector<std::int64_t>({INT64_MAX}, {}),
          from_vector<std::uint8_t>({0, 255, 3}, {3}), gflow::empty({0}), gflow::empty({2, 0, 3})}) {
        INFO(gflow::describe(x));
        save_npy(file, x);
        CHECK(same(load_npy(file), x));
    }
}

TEST_CASE("npy bytes are those that NumPy writes") {
    TemporaryFolder folder;
    save_npy(folder / "x", from_vector<std::int64_t>({0, 1}, {2}));
    std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
    header.resize(117, ' ');
    CHECK(gflow::read_file(folder / "x") == npy(header + "\n", bytes_of<std::int64_t>({0, 1})));
    for (const auto& shape : {Shape{}, Shape{3}, Shape{1, 2, 3, 1, 1, 1, 1, 1}, Shape{1000000, 0, 12}}) {
        save_npy(folder / "x", gflow::zeros(shape));
        const std::string bytes = gflow::read_file(folder / "x");
        CHECK((bytes.find('\n') + 1) % 64 == 0);
        CHECK(load_npy(folder / "x").shape() == shape);
    }
}

TEST_CASE("npy as others may write it") {
    TemporaryFolder folder;
    const auto file = folder / "x.npy";
    const auto load = [&](const std::string& bytes) {
        gflow::write_file(file, bytes);
        return load_npy(file);
    };
    SECTION("versions 1, 2 and 3, with double quotes, without spaces") {
        for (const int version : {1, 2, 3}) {
            const Tensor x = load(
                npy("{\"shape\":(1,2),\"descr\":\"<f4\",\"fortran_order\":False}", bytes_of<float>({1, 2}), version));
            CHECK(same(x, from_vector<float>({1, 2}, {1, 2})));
        }
    }
    SECTION("Fortran order is turned round") {
        const auto fortran = [&](const std::string& shape, std::vector<std::int32_t> values) {
            return load(npy("{'descr': '<i4', 'fortran_order': True, 'shape': " + shape + ", }\n", bytes_of(values)));
        };
        CHECK(same(fortran("(2, 3)", {1, 4, 2, 5, 3, 6}), from_vector<std::int32_t>({1, 2, 3, 4, 5, 6}, {2, 3})));
        CHECK(same(fortran("(2, 2, 2)", {1, 5, 3, 7, 2, 6, 4, 8}),
                   from_vector<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2})));
        CHECK(same(fortran("(3,)", {1, 2, 3}), from_vector<std::int32_t>({1, 2, 3}, {3})));
        CHECK(same(fortran("()", {9}), from_vector<std::int32_t>({9}, {})));
        CHECK(fortran("(0, 3)", {}).shape() == Shape{0, 3});
    }
}

TEST_CASE("damaged npy files are refused") {
    TemporaryFolder folder;
    const auto file = folder / "x.npy";
    const auto refuses = [&](const std::string& bytes, const std::string& part) {
        INFO(bytes);
        gflow::write_file(file, bytes);
        CHECK_THROWS_AS(load_npy(file), gflow::io_error);
        CHECK_THROWS_WITH(load_npy(file), contains("gflow::load_npy: " + file.string() + ": ") && contains(part));
    };
    const auto dict = [](const std::string& descr, const std::string& order, const std::string& shape) {
        return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    };
    refuses("", "this must be an npy file; got bytes=0");
    refuses("\x93NUMPY", "this must be an npy file");
    refuses("NUMPY too short no", "this must be an npy file");
    refuses(npy("{}", "", 4), "the version must be 1, 2 or 3; got version=4");
    refuses(npy(dict("'<f4'", "False", "(1,)"), "").substr(0, 30), "cut short");
    refuses(npy("{}", "", 2).substr(0, 11), "cut short");
    refuses(npy("", ""), "{ must follow");
    refuses(npy("{'descr': '<f4'}", ""), "must give descr, fortran_order and shape");
    refuses(npy("{'descr': '<f4', 'descr': '<f4'}", ""), "once each; got key=descr");
    refuses(npy("{'more': 3}", ""), "got key=more");
    refuses(npy("{'descr", ""), "a quoted word must follow");
    refuses(npy(dict("'<f4'", "True", "()") + "x", "    "), "nothing may follow the header");
    refuses(npy(dict("'>f4'", "False", "(1,)"), "    "),
            "big-endian numbers are not read; save the array as little-endian, array.astype('<f4'); got descr=>f4");
    refuses(npy(dict("'<f2'", "False", "(1,)"), "  "), "descr must be <f4, <f8, <i4, <i8 or |u1; got descr=<f2");
    refuses(npy(dict("[('a', '<f4')]", "False", "(1,)"), "    "), "arrays of structures are not read");
    refuses(npy(dict("'<f4'", "Maybe", "(1,)"), "    "), "True or False must follow");
    refuses(npy(dict("'<f4'", "False", "(-1,)"), "    "), "sizes must be whole numbers");
    refuses(npy(dict("'<f4'", "False", "(1 2)"), "    "), "a comma or ) must follow");
    refuses(npy(dict("'<f4'", "False", "(99999999999999999999,)"), "    "), "too large");
    refuses(npy(dict("'<f4'", "False", "(4294967296, 4294967296)"), "    "), "too large");
    refuses(npy(dict("'<f4'", "False", "(0, 4294967296, 4294967296)"), ""), "too large");
    refuses(npy(dict("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), "    "), "at most 8 axes; got axes=9");
    refuses(npy(dict("'<f4'", "False", "(2,)"), "    "),
            "must fit shape and dtype; got bytes=4, expected=8, shape=[2]");
    refuses(npy(dict("'<f4'", "False", "(1,)"), "     "), "got bytes=5, expected=4");
    CHECK_THROWS_WITH(load_npy(folder / "none"), contains("No such file or directory"));
}

TEST_CASE("npy files with flipped bits or cut short are read or refused, nothing else") {
    TemporaryFolder folder;
    const auto file = folder / "x.npy";
    save_npy(file, from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
    const std::string whole = gflow::read_file(file);
    const auto reads = [&](const std::string& bytes) {
        gflow::write_file(file, bytes);
        try {
            load_npy(file);
            return true;
        } catch (const gflow::io_error&) {
            return false;
        }
    };
    int read = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) CHECK_FALSE(reads(whole.substr(0, length)));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int change : {0x01, 0x02, 0x08, 0x20, 0xFF}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            read += reads(bytes);
        }
    CHECK(read >= 5 * 24);  // a flip in the data shows nothing
}

TEST_CASE("save_npy refuses what NumPy has not") {
    TemporaryFolder folder;
    CHECK_THROWS_AS(save_npy(folder / "x", gflow::zeros({2}, gflow::bfloat16)), gflow::dtype_error);
    CHECK_THROWS_WITH(save_npy(folder / "x", gflow::zeros({2}, gflow::bfloat16)),
                      contains("convert with to(x, float32); got dtype=bfloat16"));
    CHECK_THROWS_AS(save_npy(folder / "x", Tensor()), gflow::io_error);
    CHECK_THROWS_WITH(save_npy(folder / "none" / "x", gflow::zeros({2})), contains("create the folder first"));
    CHECK(folder.names().empty());
}

TEST_CASE("npy of another library") {
    const auto data = gflow::test::data_dir();
    if (!data) {
        WARN("skipped: GFLOW_DATA is not set");
        return;
    }
    TemporaryFolder folder;
    const auto file = gflow::test::data_file(*data, "formats/candle_test.npy");
    CHECK(same(load_npy(file), gflow::arange(10)));
    save_npy(folder / "again", load_npy(file));
    CHECK(gflow::read_file(folder / "again") == gflow::read_file(file));
}

#include <gflow/models/grassmann_lm.hpp>
#include <gflow/models/transformer_lm.hpp>
#include <gflow/train/generate.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

/// One id for each byte: every character beyond ASCII comes in pieces.
struct Bytes final : Tokenizer {
    std::vector<std::int32_t> encode(std::string_view text) const override {
        std::vector<std::int32_t> ids;
        for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
        return ids;
    }
    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        for (const std::int32_t id : ids) text += piece(id, false);
        return text;
    }
    std::string piece(std::int32_t id, bool) const override { return std::string(1, static_cast<char>(id)); }
    Index vocab_size() const override { return 256; }
    std::string kind() const override { return "bytes"; }
    std::int32_t unk_id() const override { return 0; }
    bool unk_as_token() const override { return false; }
    void save(const std::filesystem::path&) const override {}
};

TransformerLM model_with(Index length) {
    manual_seed(5);
    return TransformerLM(
        {.vocab_size = 256, .max_length = length, .d_model = 8, .layers = 1, .d_ff = 16, .heads = 2, .init_std = 0.5});
}

}  // namespace

TEST_CASE("generate hands out whole UTF-8 characters, and the seed decides the text") {
    TransformerLM model = model_with(16);
    model.eval();
    const GenerateOptions options{.max_tokens = 200, .sampler = {.seed = 4}};
    std::string streamed;
    const auto check = [&](std::string_view bit) {
        CHECK_FALSE(first_invalid_utf8(bit).has_value());
        streamed += bit;
    };
    const std::string text = generate(model, Bytes(), "é", options, check);
    CHECK(streamed == text);
    CHECK_FALSE(text.empty());
    CHECK(generate(model, Bytes(), "é", options) == text);
    CHECK(generate(model, Bytes(), "é", {.max_tokens = 200, .sampler = {.seed = 5}}) != text);
}

TEST_CASE("generate: the greedy text is the argmax of the full forward") {
    TransformerLM model = model_with(16);
    model.eval();
    const NoGrad plain;
    std::vector<std::int32_t> ids = Bytes().encode("ab");
    std::string expected;
    Utf8Stream characters;
    for (int i = 0; i < 10; ++i) {
        const Tensor logits = model.logits(from_vector(ids, {1, static_cast<Index>(ids.size())}));
        const float* row = logits.data<float>() + (static_cast<Index>(ids.size()) - 1) * 256;
        ids.push_back(static_cast<std::int32_t>(std::max_element(row, row + 256) - row));
        expected += characters.push(Bytes().piece(ids.back(), false));
    }
    expected += characters.flush();
    CHECK(generate(model, Bytes(), "ab", {.max_tokens = 10, .sampler = {.temperature = 0}}) == expected);
}

TEST_CASE("EndlessDecoder goes on with the last half of its positions when they are used up") {
    for (const Index length : {1, 2, 5, 8}) {
        CAPTURE(length);
        TransformerLM model = model_with(length);
        model.eval();
        EndlessDecoder endless(model);
        std::vector<std::int32_t> window;
        for (std::int32_t id = 0; id < 20; ++id) {
            if (static_cast<Index>(window.size()) == length)
                window.erase(window.begin(), window.end() - static_cast<std::ptrdiff_t>(length / 2));
            window.push_back(id);
            const NoGrad plain;
            const Tensor full = model.logits(from_vector(window, {1, static_cast<Index>(window.size())}));
            const Tensor step = endless.step(id);
            double worst = 0;
            for (Index v = 0; v < 256; ++v)
                worst = std::max(worst, std::abs(static_cast<double>(
                                            step.data<float>()[v] -
                                            full.data<float>()[(static_cast<Index>(window.size()) - 1) * 256 + v])));
            CHECK(worst < 1e-4);
        }
    }
}

TEST_CASE("generate: edges") {
    TransformerLM model = model_with(4);
    model.eval();
    CHECK(generate(model, Bytes(), "abcdefghij", {.max_tokens = 0}).empty());
    CHECK_THROWS_WITH(generate(model, Bytes(), "", {}), contains("at least one token"));
    CHECK_THROWS_WITH(generate(model, Bytes(), "a", {.max_tokens = -1}), contains("max_tokens=-1"));
}

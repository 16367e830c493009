#include <gflow/train/model_file.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

nlohmann::json small(const std::string& model) {
    if (model == "grassmann") {
        GrassmannLMOptions options = GrassmannLM::small();
        options.vocab_size = 50;
        return {{"model", model}, {"settings", options_to_json(options)}};
    }
    TransformerLMOptions options = TransformerLM::small();
    options.vocab_size = 50;
    return {{"model", model}, {"settings", options_to_json(options)}};
}

}  // namespace

TEST_CASE("Model options come back from JSON, each of them") {
    GrassmannLMOptions g;
    g.vocab_size = 7, g.max_length = 8, g.d_model = 12, g.layers = 2, g.d_ff = 5, g.heads = 3, g.dropout = 0.25;
    g.norm = NormPlacement::pre, g.tie_embedding = false, g.final_norm = false, g.init_std = 0.5, g.rank = 4;
    g.offsets = {{1, 2}, {3}}, g.aggregate = Aggregate::sum, g.normalize = Normalize::none, g.gate_bias = 1.5;
    g.mixer_output = nn::MixerOutput::mlp, g.offset_weights = nn::OffsetWeights::token;
    const nlohmann::json json = options_to_json(g);
    CHECK(nlohmann::json(options_to_json(options_from_json<GrassmannLMOptions>(json, "x"))) == json);
    CHECK(nlohmann::json(options_to_json(GrassmannLMOptions{})) != json);
    for (const auto& [name, value] : json.items())  // so that no field above has its default by chance
        CHECK(nlohmann::json(options_to_json(GrassmannLMOptions{}))[name] != value);

    TransformerLMOptions t;
    t.heads = 2, t.attention_dropout = 0.5;
    const nlohmann::json other = options_to_json(t);
    CHECK(nlohmann::json(options_to_json(options_from_json<TransformerLMOptions>(other, "x"))) == other);
}

TEST_CASE("make_model builds what config.json names, and refuses what it does not know") {
    CHECK(dynamic_cast<GrassmannLM*>(make_model(small("grassmann"), "c").get()) != nullptr);
    CHECK(dynamic_cast<TransformerLM*>(make_model(small("transformer"), "c").get()) != nullptr);
    nlohmann::json unknown = small("grassmann"), missing = unknown, wrong = unknown, other = unknown;
    unknown["settings"]["ranks"] = 4;
    missing["settings"].erase("rank");
    wrong["settings"]["norm"] = "middle";
    other["model"] = "mamba";
    CHECK_THROWS_WITH(make_model(unknown, "c"), contains("c, settings: unknown key \"ranks\""));
    CHECK_THROWS_WITH(make_model(missing, "c"), contains("\"rank\" is missing"));
    CHECK_THROWS_WITH(make_model(wrong, "c"), contains("norm must be one of post, pre; got middle"));
    CHECK_THROWS_WITH(make_model(other, "c"), contains("got \"mamba\""));
    CHECK_THROWS_WITH(make_model(nlohmann::json{{"model", "grassmann"}}, "c"), contains("\"settings\" is missing"));
}

TEST_CASE("Presets have the published numbers of parameters") {
    const auto count = [](const auto& options) {
        using Options = std::decay_t<decltype(options)>;
        const char* name = std::is_same_v<Options, GrassmannLMOptions> ? "grassmann" : "transformer";
        return make_model({{"model", name}, {"settings", options_to_json(options)}}, "c")->parameter_count();
    };
    CHECK(count(grassmann_preset("paper-6")) == 12'607'168);
    CHECK(count(transformer_preset("paper-6")) == 12'585'472);
    CHECK(count(grassmann_preset("paper-12")) == 17'400'192);
    CHECK(count(transformer_preset("paper-12")) == 17'356'800);
    CHECK_THROWS_WITH(grassmann_preset("paper"), contains("paper-6, paper-12 or small; got paper"));
    CHECK_THROWS_WITH(transformer_preset("large"), contains("got large"));
}

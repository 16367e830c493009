#include <gflow/train/resolve_settings.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

GivenSettings given(const nlohmann::json& json) { return settings_from_json(json, "recipe.json"); }

LmSettings resolved(const nlohmann::json& command_line, const nlohmann::json& file = nlohmann::json::object()) {
    return resolve_settings(given(file), given(command_line));
}

}  // namespace

TEST_CASE("Settings: presets have the sizes of both models") {
    const LmSettings small = resolved({{"preset", "small"}});
    CHECK((small.d_model == 128 && small.rank == 16 && small.layers == 4 && small.d_ff == 512 && small.seq_len == 128));
    CHECK(small.batch == 16);
    CHECK(small.offsets == "1,2,4,8");
    const LmSettings paper6 = resolved({{"preset", "paper-6"}}), paper12 = resolved({{"preset", "paper-12"}});
    CHECK((paper6.batch == 32 && paper6.seq_len == 128 && paper6.layers == 6));
    CHECK((paper12.batch == 16 && paper12.seq_len == 256 && paper12.layers == 12));
    CHECK(paper12.offsets == "1,1,2,2,4,4,8,8,12,12,16,16");
    const LmSettings transformer = resolved({{"preset", "paper-6"}, {"model", "transformer"}});
    CHECK((transformer.heads == 4 && paper6.heads == 1));
    CHECK(transformer.offsets.empty());
}

TEST_CASE("Settings: both models share every default that they can share") {
    for (const char* preset : {"paper-6", "paper-12", "small"}) {
        auto a = to_json(resolved({{"preset", preset}}));
        auto b = to_json(resolved({{"preset", preset}, {"model", "transformer"}}));
        for (const char* own : {"model", "heads", "rank", "offsets"}) a.erase(own), b.erase(own);
        CHECK(a == b);
    }
}

TEST_CASE("Settings: the command line overrules the file, the file the preset") {
    const LmSettings s = resolved({{"lr", 1e-3}}, {{"preset", "small"}, {"lr", 5e-4}, {"batch", 8}});
    CHECK((s.lr == 1e-3 && s.batch == 8 && s.d_model == 128));
    CHECK(resolved({{"preset", "small"}}, {{"preset", "paper-12"}, {"batch", 3}}).layers == 4);
    CHECK(s.min_lr == 1e-4);
    CHECK(resolved({{"min_lr", 0}}).min_lr == 0);
}

TEST_CASE("Settings: how long: one of three, ten epochs if none") {
    CHECK(resolved(nlohmann::json::object()).epochs == 10);
    const LmSettings s = resolved({{"steps", 7}}, {{"epochs", 3}});
    CHECK((s.steps == 7 && s.epochs == 0));
    CHECK_THROWS_WITH(resolved({{"steps", 7}, {"minutes", 1}}), contains("--steps and --minutes contradict"));
    CHECK_THROWS_WITH(resolved({{"steps", 0}}), contains("--steps must be above 0"));
    CHECK_THROWS_WITH(resolved({{"epochs", -1}}), contains("--epochs must be above 0 and below 1e9; got -1"));
}

TEST_CASE("Settings: offsets and layers fit each other") {
    CHECK(resolved({{"offsets", "1,2,3"}}).layers == 3);
    CHECK(resolved({{"offsets", {1, 2, 3}}}).offsets == "1,2,3");
    CHECK(resolved({{"offsets", {{1, 2}, {4}}}}).offsets == "1,2;4");
    CHECK(resolved({{"offsets_all", "1,2"}, {"layers", 3}}).offsets == "1,2;1,2;1,2");
    CHECK(resolved({{"offsets_all", "1,2"}, {"preset", "small"}}).offsets == "1,2;1,2;1,2;1,2");
    CHECK(resolved({{"offsets_all", "1,2"}, {"layers", 2}}, {{"offsets", "1,2,3,4,5,6"}}).offsets == "1,2;1,2");
    CHECK_THROWS_AS(resolved({{"layers", 3}}), usage_error);
    CHECK_THROWS_WITH(resolved({{"layers", 3}}), contains("--layers 3 does not fit the offsets 1,2,4,8,12,16"));
    CHECK_THROWS_WITH(resolved({{"offsets", "1,2"}, {"offsets_all", "1"}}), contains("contradict"));
    CHECK_THROWS_WITH(resolved({{"offsets", "1,x"}}), contains("offsets=1,x"));
    CHECK(resolved({{"layers", 3}, {"model", "transformer"}}).layers == 3);
}

TEST_CASE("Settings: what belongs to the other model is refused by name") {
    CHECK_THROWS_WITH(resolved({{"model", "transformer"}, {"rank", 16}}),
                      contains("--rank is no setting of the transformer model"));
    CHECK_THROWS_WITH(resolved({{"attention_dropout", 0.1}}), contains("--attention-dropout is no setting"));
}

TEST_CASE("Settings out of range are refused by name and value") {
    const std::vector<std::pair<const char*, nlohmann::json>> bad{
        {"lr", 0},          {"lr", -1e-3},        {"min_lr", 1},
        {"batch", 0},       {"seq_len", 0},       {"layers", 0},
        {"beta1", 1},       {"beta2", -0.5},      {"eps", -1},
        {"clip", -1},       {"weight_decay", -1}, {"dropout", 1},
        {"dropout", -0.1},  {"threads", -1},      {"threads", 5000},
        {"seed", -1},       {"warmup", -2},       {"checkpoint_every", 0},
        {"eval_every", -1}, {"minutes", -3}};
    for (const auto& [name, value] : bad) {
        CAPTURE(name, value.dump());
        CHECK_THROWS_AS(resolved({{name, value}}), usage_error);
        CHECK_THROWS_WITH(resolved({{name, value}}), contains(flag_of(name)));
    }
    for (const char* name :
         {"model", "preset", "schedule", "norm", "aggregate", "normalize", "mixer_output", "offset_weights"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(resolved({{name, "nonsense"}}), usage_error);
        CHECK_THROWS_WITH(resolved({{name, "nonsense"}}), contains("nonsense"));
    }
}

TEST_CASE("Settings in JSON: names with _ or -, unknown ones and wrong types refused") {
    CHECK(given({{"min-lr", 0.5}}).values.min_lr == 0.5);
    CHECK(given({{"data", "text.txt"}}).values.data == std::vector<std::string>{"text.txt"});
    CHECK(given({{"data", {"a", "b"}}}).values.data == std::vector<std::string>{"a", "b"});
    CHECK_THROWS_WITH(given({{"learning_rate", 1}}), contains("recipe.json: unknown key \"learning_rate\""));
    CHECK_THROWS_WITH(given({{"lr", "fast"}}), contains("recipe.json: \"lr\" must be a number; got \"fast\""));
    CHECK_THROWS_WITH(given({{"steps", 1.5}}), contains("\"steps\" must be a whole number"));
    CHECK_THROWS_WITH(given({{"tie", 1}}), contains("true or false"));
    CHECK_THROWS_WITH(given({{"min_lr", 1}, {"min-lr", 1}}), contains("given twice"));
    CHECK_THROWS_WITH(given(nlohmann::json::array()), contains("a JSON object"));
}

TEST_CASE("Settings come back from JSON as they were") {
    const LmSettings s = resolved({{"preset", "small"}, {"offsets_all", "1,2"}, {"lr", 0.1 + 0.2}, {"steps", 5}});
    CHECK(to_json(given(nlohmann::json(to_json(s))).values) == to_json(s));
}

TEST_CASE("model_config describes the model that the settings ask for") {
    const LmSettings s = resolved({{"preset", "small"}, {"offsets", "1,2;3"}, {"norm", "pre"}, {"tie", false}});
    const auto config = nlohmann::json(model_config(s, 100));
    CHECK(config["settings"]["offsets"] == nlohmann::json{{1, 2}, {3}});
    CHECK(config["settings"]["vocab_size"] == 100);
    const auto model = make_model(config, "config.json");
    CHECK(
        (model->layers() == 2 && model->d_model() == 128 && model->vocab_size() == 100 && model->max_length() == 128));
    CHECK(model->head.has_value());
}

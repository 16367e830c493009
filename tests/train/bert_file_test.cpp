#include <gflow/train/bert_file.hpp>

#include <cmath>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace gflow;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

namespace {

nlohmann::json bert_json() {
    return {{"model_type", "bert"},        {"vocab_size", 7},          {"hidden_size", 4},
            {"num_hidden_layers", 1},      {"num_attention_heads", 2}, {"intermediate_size", 5},
            {"max_position_embeddings", 6}};
}
nlohmann::json distilbert_json() {
    return {{"model_type", "distilbert"},
            {"vocab_size", 7},
            {"dim", 4},
            {"n_layers", 1},
            {"n_heads", 2},
            {"hidden_dim", 5},
            {"max_position_embeddings", 6}};
}
BertEncoderOptions options_of(const nlohmann::json& json) { return bert_config_from_json(json, "c").options; }

std::string refusal(nlohmann::json json, const std::string& key, const nlohmann::json& value) {
    json[key] = value;
    try {
        bert_config_from_json(json, "c.json");
    } catch (const io_error& problem) {
        return problem.what();
    }
    return "";
}

}  // namespace

TEST_CASE("bert_config_from_json reads the keys of BERT") {
    nlohmann::json json = bert_json();
    json["architectures"] = {"BertForMaskedLM"};  // does not concern the encoder
    BertConfig config = bert_config_from_json(json, "c");
    CHECK(config.family == BertFamily::bert);
    const BertEncoderOptions plain = config.options;
    CHECK((plain.vocab_size == 7 && plain.max_length == 6 && plain.d_model == 4 && plain.layers == 1));
    CHECK((plain.heads == 2 && plain.d_ff == 5 && plain.token_types == 2 && plain.norm_eps == 1e-12));
    CHECK((plain.dropout == 0.1 && plain.mixed_dropout == 0.1 && plain.attention_dropout == 0.1));
    json["type_vocab_size"] = 3, json["layer_norm_eps"] = 1e-5, json["hidden_dropout_prob"] = 0.25;
    json["attention_probs_dropout_prob"] = 0.5, json["initializer_range"] = 0.125, json["hidden_act"] = "gelu";
    const BertEncoderOptions other = options_of(json);
    CHECK((other.token_types == 3 && other.norm_eps == 1e-5 && other.dropout == 0.25 && other.mixed_dropout == 0.25));
    CHECK((other.attention_dropout == 0.5 && other.init_std == 0.125));
}

TEST_CASE("bert_config_from_json reads the keys of DistilBERT") {
    nlohmann::json json = distilbert_json();
    json["dropout"] = 0.25, json["attention_dropout"] = 0.5, json["activation"] = "gelu";
    const BertConfig config = bert_config_from_json(json, "c");
    CHECK(config.family == BertFamily::distilbert);
    const BertEncoderOptions& o = config.options;
    CHECK((o.vocab_size == 7 && o.max_length == 6 && o.d_model == 4 && o.layers == 1 && o.heads == 2 && o.d_ff == 5));
    CHECK((o.token_types == 0 && o.norm_eps == 1e-12 && o.dropout == 0.25 && o.attention_dropout == 0.5));
    CHECK(o.mixed_dropout == 0);
}

TEST_CASE("bert_config_from_json refuses what BertEncoder does not compute, and names it") {
    CHECK_THAT(refusal(bert_json(), "model_type", "roberta"),
               contains("c.json: \"model_type\" must be bert or distilbert; got \"roberta\""));
    CHECK_THAT(refusal(bert_json(), "hidden_act", "gelu_new"),
               contains("c.json: \"hidden_act\" must be \"gelu\"; got \"gelu_new\""));
    CHECK_THAT(refusal(distilbert_json(), "activation", "relu"),
               contains("\"activation\" must be \"gelu\"; got \"relu\""));
    CHECK_THAT(refusal(bert_json(), "position_embedding_type", "relative_key"), contains("must be \"absolute\""));
    CHECK_THAT(refusal(bert_json(), "is_decoder", true), contains("\"is_decoder\" must be false; got true"));
    CHECK_THAT(refusal(bert_json(), "hidden_size", "768"),
               contains("\"hidden_size\" must be a whole number; got \"768\""));
    for (const nlohmann::json& whole : {bert_json(), distilbert_json()})
        for (const auto& [key, value] : whole.items()) {
            nlohmann::json fewer = whole;
            fewer.erase(key);
            CHECK_THROWS_WITH(options_of(fewer), contains("c: \"" + key + "\" is missing"));
        }
}

TEST_CASE("load_bert_encoder reads a folder as it is published, and says what is wrong with one") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(load_bert_encoder(folder.path()), contains("config.json"));
    write_json(folder / "config.json", distilbert_json());
    CHECK_THROWS_WITH(load_bert_encoder(folder.path()), contains("model.safetensors"));

    BertEncoder source(options_of(distilbert_json()));
    TensorMap published;
    for (const auto& [name, x] : source.state_dict()) {
        const std::size_t dot = name.rfind('.');
        const auto parts = gflow::detail::bert_parts(BertFamily::distilbert, 1).at(name.substr(0, dot));
        const Index rows = x.size(0) / static_cast<Index>(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Index begin = static_cast<Index>(i) * rows;
            published.emplace("distilbert." + parts[i] + name.substr(dot), slice(x, 0, begin, begin + rows));
        }
    }
    save_safetensors(folder / "model.safetensors", published);
    const auto encoder = load_bert_encoder(folder.path());
    source.eval();
    const Tensor ids = from_vector(std::vector<Index>{1, 2, 6}, {1, 3});
    CHECK_FALSE(encoder->training());
    CHECK((*encoder)(ids).to_vector<float>() == source(ids).to_vector<float>());
    CHECK(load_bert_encoder(folder.path(), {.dtype = float64})->token_embedding.weight.dtype() == float64);
    CHECK_THROWS_WITH(load_bert_encoder(folder.path(), {.pooler = true}),
                      contains("missing: pooler.dense.weight [4, 4]"));

    const std::string whole = read_file(folder / "model.safetensors", "test");
    write_file(folder / "model.safetensors", whole.substr(0, whole.size() - 9), "test");
    CHECK_THROWS_AS(load_bert_encoder(folder.path()), io_error);
    write_json(folder / "config.json", bert_json());
    write_file(folder / "model.safetensors", whole, "test");
    CHECK_THROWS_WITH(load_bert_encoder(folder.path()),
                      contains("model.safetensors: the weights must be those of this encoder") &&
                          contains("superfluous: distilbert.embeddings.LayerNorm.bias"));
}

TEST_CASE("a DistilBERT that another library wrote has that library's hidden states") {
    const auto data = gflow::test::data_dir();
    if (!data) {
        WARN("skipped: GFLOW_DATA is not set");
        return;
    }
    const auto folder = gflow::test::data_file(*data, "tiny-distilbert");
    const auto encoder = load_bert_encoder(folder);
    const TensorMap golden = load_safetensors(folder / "golden_f64.safetensors");
    const std::vector<Tensor> states = encoder->hidden_states(golden.at("input_ids"), golden.at("attention_mask"));
    REQUIRE(states.size() == 3);
    for (std::size_t i = 0; i < states.size(); ++i) {
        const Tensor& expected = golden.at("hidden_states." + std::to_string(i));
        REQUIRE(states[i].shape() == expected.shape());
        Index close = 0;
        for (Index k = 0; k < expected.numel(); ++k)
            close += std::abs(states[i].data<float>()[k] - expected.data<double>()[k]) < 1e-5;
        INFO("hidden states " << i);
        CHECK(close == expected.numel());
    }
    encoder->require_vocabulary(30522);
}

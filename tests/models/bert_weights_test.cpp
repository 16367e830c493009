// Both families against Hugging Face's models: states, pooled states and every gradient, from their public names.
// tests/golden/make_bert_golden.py wrote the fixture, in float64.
#include <gflow/io/safetensors.hpp>
#include <gflow/models/bert_weights.hpp>
#include <gflow/ops/reduce.hpp>
#include <gflow/train/bert_file.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

struct PublicModel {
    std::string name;
    BertConfig config;
    TensorMap tensors;  // names without the case

    TensorMap under(const std::string& prefix) const {
        TensorMap found;
        for (const auto& [full, x] : tensors)
            if (full.starts_with(prefix)) found.emplace(full.substr(prefix.size()), x);
        return found;
    }
    bool has(const std::string& tensor) const { return tensors.find(tensor) != tensors.end(); }
    /// Undefined where there is none.
    Tensor get(const std::string& tensor) const { return has(tensor) ? tensors.at(tensor) : Tensor(); }
};

std::vector<PublicModel> public_models(DType dtype = float32) {
    const std::string fixture = GFLOW_SOURCE_DIR "/tests/golden/bert_small.safetensors";
    const TensorMap all = load_safetensors(fixture);
    std::vector<PublicModel> models;
    for (const auto& [name, text] : load_metadata(fixture)) {
        PublicModel one{name, bert_config_from_json(nlohmann::json::parse(text), name), {}};
        for (const auto& [tensor, x] : all)
            if (tensor.starts_with(name + "/")) one.tensors.emplace(tensor.substr(name.size() + 1), x);
        one.config.options.pooler = one.has("pooled");
        one.config.options.dtype = dtype;
        models.push_back(std::move(one));
    }
    return models;
}
PublicModel public_model(const std::string& name) {
    for (PublicModel& model : public_models())
        if (model.name == name) return model;
    FAIL("no case " << name);
    return {};
}

std::unique_ptr<BertEncoder> encoder_of(const PublicModel& model, const TensorMap& weights) {
    auto encoder = std::make_unique<BertEncoder>(model.config.options);
    encoder->load_state_dict(bert_state(*encoder, model.config.family, weights, model.name));
    encoder->eval();
    return encoder;
}

/// What is said of weights that were changed.
std::string complaint(const PublicModel& model, const TensorMap& weights) {
    try {
        encoder_of(model, weights);
    } catch (const shape_error& problem) {
        return problem.what();
    }
    return "";
}

}  // namespace

TEST_CASE("BERT and DistilBERT agree with Hugging Face: states and every gradient") {
    for (const DType dtype : {float64, float32}) {
        const std::vector<PublicModel> models = public_models(dtype);
        REQUIRE(models.size() == 4);
        for (const PublicModel& model : models) {
            INFO(model.name << ", " << name_of(dtype));
            const double tolerance = dtype == float64 ? 1e-12 : 1e-5;
            const auto encoder = encoder_of(model, model.under("weights/"));
            const Tensor ids = model.get("input_ids"), mask = model.get("attention_mask"),
                         types = model.get("token_type_ids");
            const std::vector<Tensor> states = encoder->hidden_states(ids, mask, types);
            for (std::size_t i = 0; i < states.size(); ++i)
                expect_close(states[i], model.get("states." + std::to_string(i)), {tolerance, tolerance});
            REQUIRE_FALSE(model.has("states." + std::to_string(states.size())));

            Tensor total = sum(states.back() * to(model.get("cotangents/states"), dtype));
            if (encoder->pooler) {
                const Tensor pooled = encoder->pooled(states.back());
                expect_close(pooled, model.get("pooled"), {tolerance, tolerance});
                total = total + sum(pooled * to(model.get("cotangents/pooled"), dtype));
            }
            total.backward();
            const TensorMap gradients = bert_state(*encoder, model.config.family, model.under("gradients/"));
            REQUIRE(gradients.size() == encoder->named_parameters().size());
            double all = 0;
            for (const auto& [name, x] : gradients) all += norm_of(x) * norm_of(x);
            for (const auto& [name, parameter] : encoder->named_parameters())
                expect_close_in_norm(name, parameter.grad(), gradients.at(name), dtype == float64 ? 1e-7 : 1e-5,
                                     std::sqrt(all));
        }
    }
}

TEST_CASE("bert_state reads LayerNorms of the first files, and numbers of another dtype") {
    const PublicModel model = public_model("bert");
    TensorMap old, half;
    for (auto& [name, x] : model.under("weights/")) {
        std::string of_old = name;
        if (const auto at = of_old.find("LayerNorm."); at != std::string::npos)
            of_old.replace(at + 10, std::string::npos, of_old.ends_with("weight") ? "gamma" : "beta");
        old.emplace(of_old, x);
        half.emplace(name, to(x, bfloat16));
    }
    const Tensor ids = model.get("input_ids");
    const Tensor expected = (*encoder_of(model, model.under("weights/")))(ids);
    expect_same_bits((*encoder_of(model, old))(ids), expected);
    expect_close((*encoder_of(model, half))(ids), expected, {0.2, 0.05});
}

TEST_CASE("bert_state passes over the pooler where none is wanted, and position_ids") {
    PublicModel model = public_model("bert");
    TensorMap weights = model.under("weights/");
    weights.emplace("bert.embeddings.position_ids", reshape(arange(12), {1, 12}));
    weights.emplace("classifier.weight", zeros({3, 16}));
    model.config.options.pooler = false;
    REQUIRE(complaint(model, weights).empty());
    REQUIRE_FALSE(encoder_of(model, weights)->pooler.has_value());
}

TEST_CASE("bert_state names every missing, superfluous and misshapen tensor") {
    for (PublicModel& model : public_models()) {
        INFO(model.name);
        const TensorMap weights = model.under("weights/");
        for (const auto& [name, x] : weights) {  // without one of them, each in turn
            TensorMap fewer = weights;
            fewer.erase(name);
            const std::string plain = gflow::detail::plain_bert_name(name, model.config.family);
            if (gflow::detail::belongs_to_another_task(plain))
                REQUIRE(complaint(model, fewer).empty());
            else
                REQUIRE_THAT(complaint(model, fewer), contains("\n  missing: " + plain + " ["));
        }
    }
    const PublicModel model = public_model("distilbert");
    TensorMap weights = model.under("weights/");
    weights.at("distilbert.transformer.layer.1.attention.k_lin.bias") = zeros({17});
    weights.erase("distilbert.embeddings.LayerNorm.bias");
    weights.emplace("distilbert.transformer.layer.2.ffn.lin1.bias", zeros({24}));
    weights.emplace("pooler.dense.bias", zeros({16}));
    weights.emplace("embeddings.LayerNorm.weight", zeros({16}));
    const std::string said = complaint(model, weights);
    for (const char* fault :
         {"gflow::bert_state: distilbert: the weights must be those of this encoder",
          "\n  misshapen: transformer.layer.1.attention.k_lin.bias is [17], must be [16]",
          "\n  missing: embeddings.LayerNorm.bias [16]", "\n  superfluous: transformer.layer.2.ffn.lin1.bias",
          "\n  there twice, with and without prefix: embeddings.LayerNorm.weight"})
        CHECK_THAT(said, contains(fault));
}

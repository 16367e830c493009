// Both language models against PyTorch: logits, loss, every gradient, and the losses of ten AdamW steps.
// tests/golden/make_golden.py wrote the fixture, in float64 and in the paper's order of operations.
#include <gflow/io/safetensors.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/optim/clip.hpp>
#include <gflow/train/model_file.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

const char* const fixture = GFLOW_SOURCE_DIR "/tests/golden/lm_small.safetensors";

struct Case {
    std::string name;
    nlohmann::json config;
    TensorMap tensors;  // names without the case

    TensorMap under(const std::string& prefix) const {
        TensorMap found;
        for (const auto& [full, x] : tensors)
            if (full.starts_with(prefix)) found.emplace(full.substr(prefix.size()), x);
        return found;
    }
};

std::vector<Case> golden_cases() {
    const TensorMap all = load_safetensors(fixture);
    std::vector<Case> cases;
    for (const auto& [name, text] : load_metadata(fixture)) {
        Case one{name, nlohmann::json::parse(text), {}};
        for (const auto& [tensor, x] : all)
            if (tensor.starts_with(name + "/")) one.tensors.emplace(tensor.substr(name.size() + 1), x);
        cases.push_back(std::move(one));
    }
    return cases;
}

template <class Model, class Options>
std::unique_ptr<LanguageModel> build(const Case& golden, DType dtype) {
    auto options = options_from_json<Options>(golden.config.at("settings"), golden.name);
    options.dtype = dtype;
    auto model = std::make_unique<Model>(options);
    model->load_state_dict(golden.under("weights/"));
    return model;
}
std::unique_ptr<LanguageModel> model_of(const Case& golden, DType dtype) {
    return golden.config.at("model") == "grassmann" ? build<GrassmannLM, GrassmannLMOptions>(golden, dtype)
                                                    : build<TransformerLM, TransformerLMOptions>(golden, dtype);
}

}  // namespace

TEST_CASE("both models agree with PyTorch: logits, loss and every gradient") {
    const std::vector<Case> cases = golden_cases();
    REQUIRE(cases.size() >= 7);
    for (const DType dtype : {float64, float32})
        for (const Case& golden : cases) {
            INFO(golden.name << ", " << name_of(dtype));
            const double tolerance = dtype == float64 ? 1e-10 : 1e-5;
            const auto model = model_of(golden, dtype);
            const Tensor ids = golden.tensors.at("inputs");
            expect_close_in_norm("logits", model->logits(ids), golden.tensors.at("logits"), tolerance);
            const Tensor loss = model->loss(ids, golden.tensors.at("targets"));
            expect_close_in_norm("loss", loss, golden.tensors.at("loss"), tolerance);
            loss.backward();
            const TensorMap gradients = golden.under("gradients/");
            double all = 0;
            for (const auto& [name, x] : gradients) all += norm_of(x) * norm_of(x);
            REQUIRE(gradients.size() == model->named_parameters().size());
            for (const auto& [name, parameter] : model->named_parameters())
                expect_close_in_norm(name, parameter.grad(), gradients.at(name), tolerance, std::sqrt(all));
        }
}

TEST_CASE("ten AdamW steps give PyTorch's losses") {
    for (const DType dtype : {float64, float32})
        for (const Case& golden : golden_cases()) {
            INFO(golden.name << ", " << name_of(dtype));
            const auto model = model_of(golden, dtype);
            const nlohmann::json& recipe = golden.config.at("adamw");
            AdamW optimizer(decay_groups(*model, recipe.at("weight_decay")), {.lr = recipe.at("lr"),
                                                                              .beta1 = recipe.at("beta1"),
                                                                              .beta2 = recipe.at("beta2"),
                                                                              .eps = recipe.at("eps")});
            const Tensor expected = golden.tensors.at("adamw_losses");
            std::vector<double> losses;
            for (Index step = 0; step < expected.numel(); ++step) {
                const Tensor loss = model->loss(golden.tensors.at("inputs"), golden.tensors.at("targets"));
                losses.push_back(loss.item());
                loss.backward();
                clip_grad_norm(model->parameters(), recipe.at("clip_norm"));
                optimizer.step();
                optimizer.zero_grad();
            }
            expect_close_in_norm("losses", from_vector(losses), expected, dtype == float64 ? 1e-9 : 1e-4);
        }
}

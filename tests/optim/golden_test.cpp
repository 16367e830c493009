// Ten AdamW steps of both language models against PyTorch: tests/golden/lm_small.safetensors.
#include <gflow/io/safetensors.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/train/model_file.hpp>

#include "support/catch.hpp"

using namespace gflow;

namespace {

/// The losses before each update, as the golden script computes them.
std::vector<double> losses(const SafetensorsFile& file, const std::string& name, DType dtype) {
    const nlohmann::json details = nlohmann::json::parse(file.metadata().at(name));
    const nlohmann::json config{{"model", details.at("model")}, {"settings", details.at("settings")}};
    const auto model = make_model(config, name, false, dtype);
    TensorMap weights;
    const std::string prefix = name + "/weights/";
    for (const auto& [key, entry] : file.entries())
        if (key.starts_with(prefix)) weights.emplace(key.substr(prefix.size()), file.tensor(key));
    model->load_state_dict(weights);
    const Tensor inputs = file.tensor(name + "/inputs"), targets = file.tensor(name + "/targets");
    const auto& adamw = details.at("adamw");
    const auto number = [&](const char* key) { return adamw.at(key).get<double>(); };
    AdamW optimizer(decay_groups(*model, number("weight_decay")), {.lr = number("lr"),
                                                                   .beta1 = number("beta1"),
                                                                   .beta2 = number("beta2"),
                                                                   .eps = number("eps"),
                                                                   .weight_decay = number("weight_decay")});
    std::vector<double> found;
    for (Index step = 0; step < adamw.at("steps").get<Index>(); ++step) {
        const Tensor loss = model->loss(inputs, targets);
        found.push_back(loss.item());
        loss.backward();
        optimizer.step(clip_scale(grad_norm(optimizer.parameters()), number("clip_norm")));
        optimizer.zero_grad();
    }
    return found;
}

}  // namespace

TEST_CASE("AdamW with clipping and decay groups follows PyTorch for ten steps") {
    const SafetensorsFile file(std::string(GFLOW_SOURCE_DIR) + "/tests/golden/lm_small.safetensors");
    REQUIRE(file.metadata().size() >= 8);
    for (const auto& [name, details] : file.metadata()) {
        const std::vector<double> expected = file.tensor(name + "/adamw_losses").to_vector<double>();
        REQUIRE(expected.size() == 10);
        for (const DType dtype : {float32, float64}) {
            CAPTURE(name, dtype);
            const std::vector<double> found = losses(file, name, dtype);
            double difference = 0, norm = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                difference += (found.at(i) - expected[i]) * (found.at(i) - expected[i]);
                norm += expected[i] * expected[i];
            }
            CHECK(std::sqrt(difference) <= (dtype == float32 ? 1e-5 : 1e-10) * std::sqrt(norm));
        }
    }
}

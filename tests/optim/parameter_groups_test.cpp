#include <gflow/core/create.hpp>
#include <gflow/optim/parameter_groups.hpp>

#include "support/catch.hpp"

using namespace gflow;

namespace {

struct Model {
    NamedParameters named_parameters() const {
        return {{"token_embedding.weight", zeros({5, 2})},       {"position_embedding.weight", zeros({3, 2})},
                {"blocks.0.mixer.reduce.weight", zeros({2, 2})}, {"blocks.0.mixer.reduce.bias", zeros({2})},
                {"blocks.0.mixer.offset_logits", zeros({3})},    {"blocks.0.mixer_norm.weight", zeros({2})},
                {"blocks.0.mixer_norm.bias", zeros({2})},        {"head.weight", zeros({5, 2})}};
    }
};

}  // namespace

TEST_CASE("decay_groups: matrices of linear maps decay; biases, LayerNorm and embeddings do not") {
    const std::vector<ParameterGroup> groups = decay_groups(Model{}, 0.1);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].weight_decay == 0.1);
    CHECK(groups[1].weight_decay == 0.0);
    const auto names = [](const ParameterGroup& group) {
        std::vector<std::string> result;
        for (const auto& [name, x] : group.parameters) result.push_back(name);
        return result;
    };
    CHECK(names(groups[0]) == std::vector<std::string>{"blocks.0.mixer.reduce.weight", "head.weight"});
    CHECK(names(groups[1]).size() == 6);
}

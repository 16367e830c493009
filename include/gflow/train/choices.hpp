#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/models/block.hpp>
#include <gflow/nn/grassmann_mixing.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gflow {

/// What matrix products multiply (float32_matmul_precision).
enum class Precision { fp32, bf16 };

namespace detail {

/// The names that config.json and command lines have for the values of an enumeration.
template <class Choice>
using ChoiceNames = std::vector<std::pair<Choice, const char*>>;

inline ChoiceNames<Precision> names_of(Precision) { return {{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}}; }
inline ChoiceNames<NormPlacement> names_of(NormPlacement) {
    return {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}};
}
inline ChoiceNames<Aggregate> names_of(Aggregate) { return {{Aggregate::mean, "mean"}, {Aggregate::sum, "sum"}}; }
inline ChoiceNames<Normalize> names_of(Normalize) { return {{Normalize::unit, "unit"}, {Normalize::none, "none"}}; }
inline ChoiceNames<nn::MixerOutput> names_of(nn::MixerOutput) {
    return {{nn::MixerOutput::none, "none"}, {nn::MixerOutput::linear, "linear"}, {nn::MixerOutput::mlp, "mlp"}};
}
inline ChoiceNames<nn::OffsetWeights> names_of(nn::OffsetWeights) {
    return {{nn::OffsetWeights::uniform, "uniform"},
            {nn::OffsetWeights::learned, "learned"},
            {nn::OffsetWeights::token, "token"}};
}

}  // namespace detail

/// The name of a choice in config.json: "post", "mean", …
template <class Choice>
std::string choice_to_text(Choice choice) {
    for (const auto& [value, name] : detail::names_of(choice))
        if (value == choice) return name;
    return "unknown";
}

/// @param setting  its name, for errors
/// @throws usage_error listing the choices
template <class Choice>
Choice choice_from_text(const std::string& setting, std::string_view text) {
    std::string all;
    for (const auto& [value, name] : detail::names_of(Choice{})) {
        if (text == name) return value;
        all += (all.empty() ? "" : ", ") + std::string(name);
    }
    throw usage_error(setting + " must be one of " + all + "; got " + std::string(text));
}

}  // namespace gflow

#pragma once
#include <gflow/models/grassmann_lm.hpp>
#include <gflow/models/transformer_lm.hpp>
#include <gflow/train/choices.hpp>
#include <gflow/train/strict_object.hpp>

#include <memory>
#include <string>

namespace gflow {

/// @throws usage_error listing the presets
inline GrassmannLMOptions grassmann_preset(const std::string& name) {
    if (name == "paper-6") return GrassmannLM::paper_6();
    if (name == "paper-12") return GrassmannLM::paper_12();
    if (name == "small") return GrassmannLM::small();
    throw usage_error("--preset must be paper-6, paper-12 or small; got " + name);
}
/// @throws usage_error listing the presets
inline TransformerLMOptions transformer_preset(const std::string& name) {
    if (name == "paper-6") return TransformerLM::paper_6();
    if (name == "paper-12") return TransformerLM::paper_12();
    if (name == "small") return TransformerLM::small();
    throw usage_error("--preset must be paper-6, paper-12 or small; got " + name);
}

namespace detail {

/// Calls f(name, field) for each option, under its name in config.json. Enumerations go as text.
template <class Options, class F>
void visit_shared_options(Options& o, F&& f) {
    f("vocab_size", o.vocab_size);
    f("max_length", o.max_length);
    f("d_model", o.d_model);
    f("layers", o.layers);
    f("d_ff", o.d_ff);
    f("heads", o.heads);
    f("dropout", o.dropout);
    f("norm", o.norm);
    f("tie_embedding", o.tie_embedding);
    f("final_norm", o.final_norm);
    f("init_std", o.init_std);
}
template <class F>
void visit_options(TransformerLMOptions& o, F&& f) {
    visit_shared_options(o, f);
    f("attention_dropout", o.attention_dropout);
}
template <class F>
void visit_options(GrassmannLMOptions& o, F&& f) {
    visit_shared_options(o, f);
    f("rank", o.rank);
    f("offsets", o.offsets);
    f("aggregate", o.aggregate);
    f("normalize", o.normalize);
    f("gate_bias", o.gate_bias);
    f("mixer_output", o.mixer_output);
    f("offset_weights", o.offset_weights);
}

}  // namespace detail

/// The settings of a model as config.json holds them. `recompute` is no part of them: it does not change the function.
template <class Options>
nlohmann::ordered_json options_to_json(Options options) {
    nlohmann::ordered_json json;
    detail::visit_options(options, [&]<class T>(const char* name, const T& field) {
        if constexpr (std::is_enum_v<T>)
            json[name] = choice_to_text(field);
        else
            json[name] = field;
    });
    return json;
}

/// @throws io_error naming a key that is missing, unknown or of the wrong type;  usage_error for an unknown choice
template <class Options>
Options options_from_json(const nlohmann::json& json, const std::string& where) {
    Options options;
    StrictObject reader(json, where);
    detail::visit_options(options, [&]<class T>(const char* name, T& field) {
        if constexpr (std::is_enum_v<T>)
            field = choice_from_text<T>(where + ": " + name, reader.need<std::string>(name));
        else
            field = reader.need<T>(name);
    });
    reader.finish();
    return options;
}

/// A model with fresh weights, from the "model" and "settings" of its config.json.
/// @param where  the name of the file, for errors
/// @throws io_error naming what is missing, unknown or of the wrong type;  usage_error for settings out of range
inline std::unique_ptr<LanguageModel> make_model(const nlohmann::json& config, const std::string& where,
                                                 bool recompute = false, DType dtype = float32) {
    StrictObject reader(config, where);
    const auto kind = reader.need<std::string>("model");
    const nlohmann::json& settings = reader.at("settings");
    const auto make = [&]<class Model, class Options>(Options options) -> std::unique_ptr<LanguageModel> {
        options.recompute = recompute;
        options.dtype = dtype;
        return std::make_unique<Model>(options);
    };
    if (kind == "grassmann")
        return make.template operator()<GrassmannLM>(
            options_from_json<GrassmannLMOptions>(settings, where + ", settings"));
    if (kind == "transformer")
        return make.template operator()<TransformerLM>(
            options_from_json<TransformerLMOptions>(settings, where + ", settings"));
    throw io_error(where + ": \"model\" must be grassmann or transformer; got \"" + kind + "\"");
}

}  // namespace gflow

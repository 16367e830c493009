#pragma once
#include <gflow/io/json_file.hpp>
#include <gflow/optim/schedule.hpp>
#include <gflow/train/lm_settings.hpp>
#include <gflow/train/model_file.hpp>
#include <gflow/train/offsets.hpp>
#include <gflow/train/precision.hpp>

#include <set>
#include <string>
#include <vector>

namespace gflow {

/// Some of the settings: what a JSON file or a command line gives.
struct GivenSettings {
    LmSettings values{};
    std::set<std::string> names{};

    bool has(const char* name) const { return names.count(name) > 0; }
    /// Overwrites in `target` what is given here.
    void overlay(LmSettings& target) const {
        LmSettings copy = values;
        const std::vector<Setting> from = settings_of(copy), to = settings_of(target);
        for (std::size_t i = 0; i < from.size(); ++i)
            if (has(from[i].name))
                std::visit(
                    [&](auto* field) { *std::get<std::remove_reference_t<decltype(field)>>(to[i].field) = *field; },
                    from[i].field);
    }
};

namespace detail {

/// Offsets in JSON may also be lists: [1, 2, 4] or [[1, 2], [4]].
inline nlohmann::json offsets_as_text(const nlohmann::json& value) {
    const auto whole = [](const nlohmann::json& list) {
        return list.is_array() && !list.empty() &&
               std::all_of(list.begin(), list.end(), [](const auto& item) { return item.is_number_integer(); });
    };
    if (whole(value)) {
        std::string text;
        for (const auto& item : value) text += (text.empty() ? "" : ",") + item.dump();
        return text;
    }
    if (value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), whole))
        return to_string(value.get<Offsets>());
    return value;
}

}  // namespace detail

/// Reads settings from JSON: the names of the command line, with "_" or "-". "data" may be one text.
/// @param where  the name of the file, for errors
/// @throws io_error naming an unknown key, or a value of the wrong type
inline GivenSettings settings_from_json(const nlohmann::json& json, const std::string& where) {
    if (!json.is_object()) throw io_error(where + ": a JSON object of settings is needed");
    nlohmann::json object = nlohmann::json::object();
    for (const auto& item : json.items()) {
        const std::string& name = item.key();
        nlohmann::json value = item.value();
        std::string key = name;
        std::replace(key.begin(), key.end(), '-', '_');
        if (object.contains(key)) throw io_error(where + ": \"" + name + "\" is given twice");
        if (key == "data" && value.is_string()) value = nlohmann::json::array({value});
        if (key == "offsets" || key == "offsets_all") value = detail::offsets_as_text(value);
        object[key] = value;
    }
    GivenSettings given;
    StrictObject reader(object, where);
    for (const Setting& setting : settings_of(given.values)) {
        std::visit([&](auto* field) { reader.read(setting.name, *field); }, setting.field);
        if (reader.has(setting.name)) given.names.insert(setting.name);
    }
    reader.finish();
    return given;
}

/// All settings as JSON, under their names.
inline nlohmann::ordered_json to_json(const LmSettings& settings) {
    LmSettings copy = settings;
    nlohmann::ordered_json json;
    for (const Setting& setting : settings_of(copy))
        std::visit([&](auto* field) { json[setting.name] = *field; }, setting.field);
    return json;
}

namespace detail {

/// Fills in what the preset says, in the model's own words.
inline void apply_preset(LmSettings& s) {
    const auto fill = [&](const auto& options) {
        s.seq_len = options.max_length;
        s.d_model = options.d_model;
        s.layers = options.layers;
        s.d_ff = options.d_ff;
        s.heads = options.heads;
        s.dropout = options.dropout;
    };
    if (s.model == "grassmann") {
        const GrassmannLMOptions options = grassmann_preset(s.preset);
        fill(options);
        s.rank = options.rank;
        s.offsets = to_string(options.offsets);
    } else {
        fill(transformer_preset(s.preset));
    }
    s.batch = s.preset == "paper-6" ? 32 : 16;
}

inline void refuse_contradictions(const LmSettings& s, const GivenSettings& given, const std::string& where) {
    const auto only_one = [&](std::initializer_list<const char*> names) {
        std::string found;
        int count = 0;
        for (const char* name : names)
            if (given.has(name)) found += (count++ > 0 ? " and " : "") + flag_of(name);
        if (count > 1) throw usage_error(where + found + " contradict each other: give one of them");
    };
    only_one({"epochs", "steps", "minutes"});
    only_one({"offsets", "offsets_all"});
    LmSettings names = s;
    for (const Setting& setting : settings_of(names)) {
        if (!given.has(setting.name)) continue;
        const bool wrong = (setting.use == Setting::grassmann_only && s.model != "grassmann") ||
                           (setting.use == Setting::transformer_only && s.model != "transformer");
        if (wrong)
            throw usage_error(where + flag_of(setting.name) + " is no setting of the " + s.model +
                              " model: leave it out, or choose the other --model");
    }
}

/// Settings of which only one counts: a later source replaces all of an earlier one's.
inline void replace_alternatives(GivenSettings& earlier, const GivenSettings& later) {
    const std::vector<std::vector<const char*>> alternatives{{"epochs", "steps", "minutes"},
                                                             {"offsets", "offsets_all"}};
    for (const auto& names : alternatives)
        if (std::any_of(names.begin(), names.end(), [&](const char* name) { return later.has(name); }))
            for (const char* name : names) earlier.names.erase(name);
}

inline void check_range(bool holds, const char* name, const char* requirement, double value) {
    if (holds) return;
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    throw usage_error(flag_of(name) + " must be " + requirement + "; got " + text);
}

inline void check_ranges(const LmSettings& s) {
    const auto at_least = [](const char* name, Index value, Index least) {
        check_range(value >= least, name, least == 0 ? "at least 0" : "at least 1", static_cast<double>(value));
    };
    at_least("seq_len", s.seq_len, 1);
    at_least("batch", s.batch, 1);
    at_least("layers", s.layers, 1);
    for (const auto& [name, value] :
         {std::pair("steps", s.steps), std::pair("seed", s.seed), std::pair("threads", s.threads),
          std::pair("eval_every", s.eval_every), std::pair("stop_after", s.stop_after)})
        at_least(name, value, 0);
    at_least("checkpoint_every", s.checkpoint_every, 1);
    for (const auto& [name, value] :
         {std::pair("steps", s.steps), std::pair("batch", s.batch), std::pair("seq_len", s.seq_len),
          std::pair("d_model", s.d_model), std::pair("d_ff", s.d_ff), std::pair("rank", s.rank),
          std::pair("layers", s.layers)})
        check_range(value <= 1'000'000'000, name, "at most 1,000,000,000", static_cast<double>(value));
    check_range(s.threads <= 1024, "threads", "at most 1024", static_cast<double>(s.threads));
    check_range(s.epochs >= 0 && s.epochs < 1e9, "epochs", "above 0 and below 1e9", s.epochs);
    check_range(s.minutes >= 0 && s.minutes < 1e9, "minutes", "above 0 and below 1e9", s.minutes);
    check_range(s.lr > 0 && s.lr < 1e9, "lr", "above 0 and below 1e9", s.lr);
    check_range(s.min_lr >= 0 && s.min_lr <= s.lr, "min_lr", "between 0 and --lr", s.min_lr);
    check_range(s.beta1 >= 0 && s.beta1 < 1, "beta1", "at least 0 and below 1", s.beta1);
    check_range(s.beta2 >= 0 && s.beta2 < 1, "beta2", "at least 0 and below 1", s.beta2);
    check_range(s.eps >= 0 && s.eps < 1e9, "eps", "at least 0, and finite", s.eps);
    check_range(s.weight_decay >= 0 && s.weight_decay < 1e9, "weight_decay", "at least 0, and finite", s.weight_decay);
    check_range(s.clip >= 0 && s.clip < 1e30, "clip", "at least 0, and finite", s.clip);
    check_range(s.dropout >= 0 && s.dropout < 1, "dropout", "at least 0 and below 1", s.dropout);
    parse_decay(s.schedule);
    choice_from_text<Precision>(flag_of("precision"), s.precision);
    choice_from_text<NormPlacement>("--norm", s.norm);
    choice_from_text<Aggregate>("--aggregate", s.aggregate);
    choice_from_text<Normalize>("--normalize", s.normalize);
    choice_from_text<nn::MixerOutput>("--mixer-output", s.mixer_output);
    choice_from_text<nn::OffsetWeights>("--offset-weights", s.offset_weights);
}

/// One canonical list of offsets, as many as there are layers.
inline void resolve_offsets(LmSettings& s, bool offsets_given, bool layers_given) {
    if (s.model != "grassmann") {
        s.offsets = s.offsets_all = "";
        return;
    }
    Offsets offsets = s.offsets_all.empty() ? parse_offsets(s.offsets) : parse_offsets_for_all(s.offsets_all, s.layers);
    if (offsets_given && !layers_given) s.layers = static_cast<Index>(offsets.size());
    if (static_cast<Index>(offsets.size()) != s.layers)
        throw usage_error("--layers " + std::to_string(s.layers) + " does not fit the offsets " + to_string(offsets) +
                          ": give --offsets with one entry a layer, or --offsets-all");
    s.offsets = to_string(offsets);
    s.offsets_all = "";
}

}  // namespace detail

/// What the defaults, the preset, the file and the command line say together, each overruling those before it.
/// @throws usage_error naming a setting that is out of range, or two that contradict each other
inline LmSettings resolve_settings(GivenSettings file, const GivenSettings& command_line) {
    LmSettings s;
    detail::replace_alternatives(file, command_line);
    file.overlay(s);
    command_line.overlay(s);
    if (s.model != "grassmann" && s.model != "transformer")
        throw usage_error("--model must be grassmann or transformer; got " + s.model);
    const LmSettings first = s;
    s = LmSettings{};
    s.model = first.model;
    s.preset = first.preset;
    detail::apply_preset(s);
    if (file.has("offsets_all") || command_line.has("offsets_all")) s.offsets = "";
    file.overlay(s);
    command_line.overlay(s);

    GivenSettings both = file;
    both.names.insert(command_line.names.begin(), command_line.names.end());
    detail::refuse_contradictions(s, both, "");
    for (const auto& [name, zero] :
         {std::pair("epochs", s.epochs == 0), std::pair("steps", s.steps == 0), std::pair("minutes", s.minutes == 0)})
        if (both.has(name) && zero) throw usage_error(flag_of(name) + " must be above 0; got 0");
    if (!both.has("epochs") && !both.has("steps") && !both.has("minutes")) s.epochs = 10;
    if (s.min_lr < 0 && !both.has("min_lr")) s.min_lr = s.lr / 10;
    if (s.heads == 0) s.heads = s.model == "grassmann" ? 1 : 4;
    detail::check_ranges(s);
    if (both.has("warmup") && s.warmup < 0)
        throw usage_error("--warmup must be at least 0; got " + std::to_string(s.warmup));
    detail::resolve_offsets(s, both.has("offsets"), both.has("layers"));
    return s;
}

/// The "model" and "settings" of config.json that resolved settings describe.
inline nlohmann::ordered_json model_config(const LmSettings& s, Index vocab_size) {
    const auto fill = [&](auto options) {
        options.vocab_size = vocab_size;
        options.max_length = s.seq_len;
        options.d_model = s.d_model;
        options.layers = s.layers;
        options.d_ff = s.d_ff;
        options.heads = s.heads;
        options.dropout = s.dropout;
        options.norm = choice_from_text<NormPlacement>("--norm", s.norm);
        options.tie_embedding = s.tie;
        options.final_norm = s.final_norm;
        options.init_std = s.init_std;
        return options;
    };
    nlohmann::ordered_json config{{"model", s.model}};
    if (s.model == "transformer") {
        TransformerLMOptions options = fill(TransformerLMOptions{});
        options.attention_dropout = s.attention_dropout;
        config["settings"] = options_to_json(options);
        return config;
    }
    GrassmannLMOptions options = fill(GrassmannLMOptions{});
    options.rank = s.rank;
    options.offsets = parse_offsets(s.offsets);
    options.aggregate = choice_from_text<Aggregate>("--aggregate", s.aggregate);
    options.normalize = choice_from_text<Normalize>("--normalize", s.normalize);
    options.gate_bias = s.gate_bias;
    options.mixer_output = choice_from_text<nn::MixerOutput>("--mixer-output", s.mixer_output);
    options.offset_weights = choice_from_text<nn::OffsetWeights>("--offset-weights", s.offset_weights);
    config["settings"] = options_to_json(options);
    return config;
}

}  // namespace gflow

#pragma once
#include <gflow/io/safetensors.hpp>
#include <gflow/models/bert_weights.hpp>
#include <gflow/train/strict_object.hpp>

#include <memory>
#include <string>

namespace gflow {

/// What a public config.json says about an encoder.
struct BertConfig {
    BertFamily family = BertFamily::bert;
    BertEncoderOptions options;
};

namespace detail {

/// Refuses a setting that would make another function than BertEncoder's.
template <class T>
void require_setting(StrictObject& config, const std::string& where, const std::string& name, const T& wanted) {
    T value = wanted;
    config.read(name, value);
    if (value != wanted)
        throw io_error(where + ": \"" + name + "\" must be " + nlohmann::json(wanted).dump() + "; got " +
                       nlohmann::json(value).dump());
}

inline BertEncoderOptions read_bert(StrictObject& config, const std::string& where) {
    require_setting<std::string>(config, where, "hidden_act", "gelu");
    require_setting<std::string>(config, where, "position_embedding_type", "absolute");
    require_setting(config, where, "is_decoder", false);
    BertEncoderOptions o;
    o.d_model = config.need<Index>("hidden_size");
    o.layers = config.need<Index>("num_hidden_layers");
    o.heads = config.need<Index>("num_attention_heads");
    o.d_ff = config.need<Index>("intermediate_size");
    config.read("type_vocab_size", o.token_types);
    config.read("layer_norm_eps", o.norm_eps);
    config.read("hidden_dropout_prob", o.dropout);
    config.read("attention_probs_dropout_prob", o.attention_dropout);
    o.mixed_dropout = o.dropout;
    return o;
}

/// DistilBERT has no token types, one ε for all, and drops nothing of what attention gives.
inline BertEncoderOptions read_distilbert(StrictObject& config, const std::string& where) {
    require_setting<std::string>(config, where, "activation", "gelu");
    BertEncoderOptions o = BertEncoder::distilbert_base();
    o.d_model = config.need<Index>("dim");
    o.layers = config.need<Index>("n_layers");
    o.heads = config.need<Index>("n_heads");
    o.d_ff = config.need<Index>("hidden_dim");
    config.read("dropout", o.dropout);
    config.read("attention_dropout", o.attention_dropout);
    return o;
}

}  // namespace detail

/// Reads the config.json of a public BERT or DistilBERT. Keys that do not concern the encoder are passed over; one that
/// would make another function of it (an activation that is not the exact GELU, relative positions) is refused.
/// @param where  the name of the file, for errors
/// @throws       io_error naming the key that is missing, of the wrong type or not to be had
inline BertConfig bert_config_from_json(const nlohmann::json& json, const std::string& where) {
    StrictObject config(json, where);
    const auto type = config.need<std::string>("model_type");
    if (type != "bert" && type != "distilbert")
        throw io_error(where + ": \"model_type\" must be bert or distilbert; got \"" + type + "\"");
    BertConfig result{type == "bert" ? BertFamily::bert : BertFamily::distilbert, {}};
    result.options = type == "bert" ? detail::read_bert(config, where) : detail::read_distilbert(config, where);
    result.options.vocab_size = config.need<Index>("vocab_size");
    result.options.max_length = config.need<Index>("max_position_embeddings");
    config.read("initializer_range", result.options.init_std);
    return result;
}

struct LoadBertOptions {
    bool pooler = false;  ///< with the pooler, which the file must have then
    DType dtype = float32;
};

/// An encoder from the config.json and model.safetensors of a folder, as they are published. It is in evaluation mode:
/// train() switches dropout on.
/// @throws io_error for a file that is missing, damaged, cut short or of another model;  shape_error naming every
///         tensor that is missing, superfluous or misshapen;  usage_error for sizes that make no encoder
inline std::unique_ptr<BertEncoder> load_bert_encoder(const std::filesystem::path& folder,
                                                      LoadBertOptions options = {}) {
    const std::filesystem::path config_file = folder / "config.json", weights_file = folder / "model.safetensors";
    BertConfig config = bert_config_from_json(read_json(config_file, "load_bert_encoder"),
                                              "gflow::load_bert_encoder: " + config_file.string());
    config.options.pooler = options.pooler;
    config.options.dtype = options.dtype;
    const auto make = [&] {
        const nn::NoInitialWeights about_to_be_loaded;
        return std::make_unique<BertEncoder>(config.options);
    };
    std::unique_ptr<BertEncoder> encoder = make();
    encoder->load_state_dict(
        bert_state(*encoder, config.family, load_safetensors(weights_file), weights_file.string()));
    encoder->eval();
    return encoder;
}

}  // namespace gflow

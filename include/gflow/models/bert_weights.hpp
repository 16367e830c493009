#pragma once
#include <gflow/models/bert_encoder.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gflow {

/// Which names the tensors of a public encoder have.
enum class BertFamily { bert, distilbert };

namespace detail {

/// Parts of BertEncoder and the public parts that each of them holds, one below the other where there are several.
using BertParts = std::map<std::string, std::vector<std::string>, std::less<>>;

inline BertParts bert_layer_parts(BertFamily family) {
    if (family == BertFamily::bert)
        return {{"attention.qkv", {"attention.self.query", "attention.self.key", "attention.self.value"}},
                {"attention.output", {"attention.output.dense"}},
                {"attention_norm", {"attention.output.LayerNorm"}},
                {"feed_forward.up", {"intermediate.dense"}},
                {"feed_forward.down", {"output.dense"}},
                {"feed_forward_norm", {"output.LayerNorm"}}};
    return {{"attention.qkv", {"attention.q_lin", "attention.k_lin", "attention.v_lin"}},
            {"attention.output", {"attention.out_lin"}},
            {"attention_norm", {"sa_layer_norm"}},
            {"feed_forward.up", {"ffn.lin1"}},
            {"feed_forward.down", {"ffn.lin2"}},
            {"feed_forward_norm", {"output_layer_norm"}}};
}

inline BertParts bert_parts(BertFamily family, Index layers) {
    BertParts parts{{"token_embedding", {"embeddings.word_embeddings"}},
                    {"position_embedding", {"embeddings.position_embeddings"}},
                    {"type_embedding", {"embeddings.token_type_embeddings"}},
                    {"embedding_norm", {"embeddings.LayerNorm"}},
                    {"pooler", {"pooler.dense"}}};
    const std::string stack = family == BertFamily::bert ? "encoder.layer." : "transformer.layer.";
    for (Index i = 0; i < layers; ++i)
        for (auto& [own, published] : bert_layer_parts(family)) {
            for (std::string& name : published) name = stack + std::to_string(i) + "." + name;
            parts.emplace("layers." + std::to_string(i) + "." + own, published);
        }
    return parts;
}

/// What models for other tasks have besides their encoder, and numbers that BertEncoder counts itself.
inline bool belongs_to_another_task(std::string_view name) {
    for (const std::string_view head : {"cls.", "vocab_transform.", "vocab_layer_norm.", "vocab_projector.",
                                        "qa_outputs.", "pre_classifier.", "classifier.", "embeddings.position_ids"})
        if (name.starts_with(head)) return true;
    return false;
}

/// A public name as those of today are: without the name of the encoder in front, and with LayerNorm's weight and bias
/// so called (gamma and beta in the first files of BERT).
inline std::string plain_bert_name(std::string name, BertFamily family) {
    const std::string_view prefix = family == BertFamily::bert ? "bert." : "distilbert.";
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
    for (const auto& [old, today] : {std::pair(".gamma", ".weight"), std::pair(".beta", ".bias")})
        if (name.ends_with(std::string("LayerNorm") + old)) name.replace(name.rfind('.'), std::string::npos, today);
    return name;
}

/// The tensors of a public file, to be taken out by their plain names; gathers what is wrong with them.
class PublishedBert {
public:
    PublishedBert(const TensorMap& published, BertFamily family, bool pooler) {
        for (const auto& [name, tensor] : published) {
            const std::string plain = plain_bert_name(name, family);
            if (belongs_to_another_task(plain) || (!pooler && plain.starts_with("pooler."))) continue;
            if (!left_.emplace(plain, tensor).second) faults_ += "\n  there twice, with and without prefix: " + plain;
        }
    }

    /// Takes the tensor of that name, which is to have this shape; undefined where that is a fault.
    Tensor take(const std::string& name, const Shape& shape) {
        const auto found = left_.extract(name);
        if (found.empty())
            faults_ += "\n  missing: " + name + " " + to_string(shape);
        else if (found.mapped().shape() != shape)
            faults_ +=
                "\n  misshapen: " + name + " is " + to_string(found.mapped().shape()) + ", must be " + to_string(shape);
        else
            return found.mapped();
        return {};
    }

    /// One line for each fault; what nobody has taken is one.
    std::string faults() const {
        std::string all = faults_;
        for (const auto& [name, tensor] : left_) all += "\n  superfluous: " + name;
        return all;
    }

private:
    TensorMap left_;
    std::string faults_;
};

/// Tensors one below the other, in one dtype; undefined if one of them is.
inline Tensor below_each_other(std::vector<Tensor> parts, DType dtype) {
    for (Tensor& part : parts) {
        if (!part.defined()) return {};
        if (part.dtype() != dtype) part = converted(part, dtype);
    }
    return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

}  // namespace detail

/// The weights of a public BERT or DistilBERT under BertEncoder's names, for its load_state_dict. Names may have the
/// prefix of their family; the heads of other tasks are left out, and a pooler where the encoder has none.
/// @param source  where the weights come from, for errors
/// @throws        shape_error naming every missing, superfluous and misshapen tensor
inline TensorMap bert_state(const BertEncoder& encoder, BertFamily family, const TensorMap& weights,
                            const std::string& source = "") {
    detail::PublishedBert published(weights, family, encoder.pooler.has_value());
    const detail::BertParts parts = detail::bert_parts(family, encoder.options().layers);
    TensorMap state;
    for (const auto& [own, parameter] : encoder.named_parameters()) {
        const std::size_t dot = own.rfind('.');
        const std::vector<std::string>& names = parts.at(own.substr(0, dot));
        Shape shape = parameter.shape();
        shape[0] /= static_cast<Index>(names.size());
        std::vector<Tensor> found;
        for (const std::string& name : names) found.push_back(published.take(name + own.substr(dot), shape));
        state.emplace(own, detail::below_each_other(found, parameter.dtype()));
    }
    const std::string faults = published.faults();
    if (!faults.empty())
        fail("bert_state",
             (source.empty() ? "" : source + ": ") + "the weights must be those of this encoder" + faults);
    return state;
}

}  // namespace gflow

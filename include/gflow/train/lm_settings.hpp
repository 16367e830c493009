#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>

#include <string>
#include <variant>
#include <vector>

namespace gflow {

/// Every setting of a language-model training run, as on the command line of train_lm and in its JSON file.
struct LmSettings {
    std::string model = "grassmann", preset = "paper-6";

    std::vector<std::string> data{};
    std::string tokenizer = "train:8000";
    bool unk_as_token = true;

    double epochs = 0;  // exactly one of the three is set once the settings are resolved
    Index steps = 0;
    double minutes = 0;

    Index seq_len = 128, batch = 32;
    // With 1e-3 both post-norm models take twice as long to get past single-token statistics.
    double lr = 5e-4, min_lr = -1;  // −1: a tenth of lr
    Index warmup = -1;              // −1: a tenth of the steps, at most 2,000
    std::string schedule = "cosine";
    std::string precision = "fp32";
    double weight_decay = 0.01, beta1 = 0.9, beta2 = 0.98, eps = 1e-8, clip = 1;
    Index seed = 1, threads = 0;

    Index eval_every = 0, checkpoint_every = 200, stop_after = 0;

    Index d_model = 256, layers = 6, d_ff = 1024, heads = 0;  // heads 0: the model's default
    double dropout = 0.1, attention_dropout = 0;
    std::string norm = "post";
    bool tie = true, final_norm = true;
    double init_std = 0.02;
    bool recompute = false;
    Index rank = 32;
    std::string offsets{}, offsets_all{};
    std::string aggregate = "mean", normalize = "unit", mixer_output = "none", offset_weights = "uniform";
    double gate_bias = 0;
};

/// Where a setting lives in an LmSettings.
using SettingField = std::variant<std::string*, std::vector<std::string>*, bool*, Index*, double*>;

struct Setting {
    enum Use { any, grassmann_only, transformer_only };
    const char* name;   ///< in JSON; on the command line with "-" for "_"
    const char* group;  ///< heading in the help
    const char* help;
    SettingField field;
    Use use = any;
    bool may_change_on_resume = false;
};

/// All settings, in the order of the help. This table is the one place that knows their names.
inline std::vector<Setting> settings_of(LmSettings& s) {
    const char *what = "What to train", *text = "Text", *length = "How long", *step = "Each step", *run = "The run",
               *shape = "Both models", *mixer = "Grassmann model", *attention = "Transformer";
    return {
        {"model", what, "grassmann or transformer", &s.model},
        {"preset", what, "paper-6, paper-12 or small: sizes, seq-len and batch, unless given", &s.preset},
        {"data", text, "a folder with wiki.{train,valid,test}.tokens or {train,valid,test}.txt, or text files", &s.data,
         Setting::any, true},
        {"tokenizer", text, "wordpiece:VOCAB, sentencepiece:MODEL or train:SIZE", &s.tokenizer},
        {"unk_as_token", text, "the literal <unk> in the text is one unknown id", &s.unk_as_token},
        {"epochs", length, "passes over the training text (default 10)", &s.epochs},
        {"steps", length, "updates", &s.steps},
        {"minutes", length, "measures 20 steps, and fixes the number of steps by them", &s.minutes},
        {"seq_len", step, "tokens per chunk; also the longest context", &s.seq_len},
        {"batch", step, "chunks per update", &s.batch},
        {"lr", step, "peak learning rate of AdamW", &s.lr},
        {"min_lr", step, "learning rate at the end (default: a tenth of --lr)", &s.min_lr},
        {"warmup", step, "updates of rising learning rate (default: a tenth of all, at most 2,000)", &s.warmup},
        {"schedule", step, "after warm-up: constant, linear or cosine", &s.schedule},
        {"precision", step, "of matrix products: fp32, or bf16 (operands rounded, sums and weights float32)",
         &s.precision},
        {"weight_decay", step, "not for biases, LayerNorm and embeddings", &s.weight_decay},
        {"beta1", step, "decay of the mean of gradients", &s.beta1},
        {"beta2", step, "decay of the mean of squared gradients", &s.beta2},
        {"eps", step, "added to the root of the latter", &s.eps},
        {"clip", step, "limit of the norm of all gradients together; 0: none", &s.clip},
        {"seed", run, "of weights, order of the chunks, and dropout", &s.seed},
        {"threads", run, "0: GFLOW_NUM_THREADS, else all cores; does not change results", &s.threads, Setting::any,
         true},
        {"eval_every", run, "steps between evaluations (default: once per epoch)", &s.eval_every},
        {"checkpoint_every", run, "steps between checkpoints, which are never more than ten minutes apart",
         &s.checkpoint_every, Setting::any, true},
        {"stop_after", run, "save and stop after this step, to be resumed", &s.stop_after, Setting::any, true},
        {"d_model", shape, "width", &s.d_model},
        {"layers", shape, "number of blocks", &s.layers},
        {"d_ff", shape, "width inside the feed-forward part", &s.d_ff},
        {"heads", shape, "0: 1 for the Grassmann model, 4 for the Transformer", &s.heads},
        {"dropout", shape, "of embeddings and of each part of a block", &s.dropout},
        {"norm", shape, "LayerNorm post (as the paper) or pre", &s.norm},
        {"tie", shape, "the output matrix is the token embedding", &s.tie},
        {"final_norm", shape, "LayerNorm before the output matrix", &s.final_norm},
        {"init_std", shape, "standard deviation of the first weights", &s.init_std},
        {"recompute", shape, "compute blocks again in backward: less memory, more time", &s.recompute},
        {"rank", mixer, "r: size of a reduced state, per head", &s.rank, Setting::grassmann_only},
        {"offsets", mixer, "one for each layer, as 1,2,4,8; or a list for each, as 1,2;1,2,4", &s.offsets,
         Setting::grassmann_only},
        {"offsets_all", mixer, "the same list in each layer, as 1,2,4", &s.offsets_all, Setting::grassmann_only},
        {"aggregate", mixer, "mean or sum over offsets", &s.aggregate, Setting::grassmann_only},
        {"normalize", mixer, "Plücker vectors: unit or none", &s.normalize, Setting::grassmann_only},
        {"gate_bias", mixer, "first bias of the gate: above 0 keeps more of the state", &s.gate_bias,
         Setting::grassmann_only},
        {"mixer_output", mixer, "a further d x d layer: none, linear or mlp", &s.mixer_output, Setting::grassmann_only},
        {"offset_weights", mixer, "uniform, learned or token", &s.offset_weights, Setting::grassmann_only},
        {"attention_dropout", attention, "of the attention weights", &s.attention_dropout, Setting::transformer_only},
    };
}

/// "--d-model"
inline std::string flag_of(const std::string& name) {
    std::string flag = "--" + name;
    for (char& c : flag) c = c == '_' ? '-' : c;
    return flag;
}

}  // namespace gflow

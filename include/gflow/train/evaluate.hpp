#pragma once
#include <gflow/models/language_model.hpp>
#include <gflow/text/chunks.hpp>
#include <gflow/train/lm_corpus.hpp>

#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace gflow {

/// The loss of a model on a whole text.
struct Evaluation {
    double nats = 0;    ///< of all targets together
    Index targets = 0;  ///< all tokens but the first
    Index words = 0, bytes = 0;

    double loss() const { return nats / static_cast<double>(targets); }
    double perplexity() const { return std::exp(loss()); }
    double nats_per_word() const { return nats / static_cast<double>(words); }
    double bits_per_byte() const { return nats / std::numbers::ln2 / static_cast<double>(bytes); }
};

/// The rows of a batch as tensors [batch, length].
inline Tensor inputs_of(const ChunkBatch& rows) { return from_vector(rows.inputs, {rows.batch, rows.length}); }
inline Tensor targets_of(const ChunkBatch& rows) { return from_vector(rows.targets, {rows.batch, rows.length}); }

/// Evaluates the text as one stream cut into chunks of `length`: chunk i sees x[iL, iL+L) and must say x[iL+1, iL+L+1);
/// the last, partial chunk counts. So each token but the first is a target once. Dropout is off.
/// @param stop  asked between batches, and told which part of the text is done, 0 to 1; if it says yes, nothing is
///              returned
inline std::optional<Evaluation> evaluate(LanguageModel& model, const LmText& text, Index length, Index batch,
                                          const std::function<bool(double)>& stop = {}) {
    struct Restore {
        LanguageModel& model;
        bool training;
        ~Restore() { model.train(training); }
    } restore{model, model.training()};
    model.eval();
    const NoGrad plain;
    const EvaluationChunks chunks(text.ids, length, batch);
    Evaluation result{0, chunks.targets(), text.words, text.bytes};
    for (Index i = 0; i < chunks.batches(); ++i) {
        if (stop && stop(static_cast<double>(i) / static_cast<double>(chunks.batches()))) return std::nullopt;
        const ChunkBatch rows = chunks[i];
        result.nats += model.loss(inputs_of(rows), targets_of(rows)).item() * static_cast<double>(rows.targets.size());
    }
    return result;
}

}  // namespace gflow

#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>
#include <gflow/core/random.hpp>

namespace gflow {

/// Rows of a language model's input and what it should say: targets are the ids one place further on in the text.
struct ChunkBatch {
    std::vector<std::int64_t> inputs, targets;  ///< [batch, length], row-major
    Index batch = 0, length = 0;
};

namespace detail {

/// Appends the chunk that begins at `begin` to a batch of that chunk length.
inline void append_chunk(ChunkBatch& to, std::span<const std::int32_t> ids, Index begin) {
    const auto inputs = ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(to.length));
    const auto targets = ids.subspan(static_cast<std::size_t>(begin) + 1, static_cast<std::size_t>(to.length));
    to.inputs.insert(to.inputs.end(), inputs.begin(), inputs.end());
    to.targets.insert(to.targets.end(), targets.begin(), targets.end());
    ++to.batch;
}

inline void require_chunk_sizes(std::string_view op, Index length, Index batch) {
    require<usage_error>(length >= 1 && batch >= 1, op, "chunk length and batch size must be at least 1",
                         {{"length", length}, {"batch", batch}});
}

inline Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// 0 … count−1, shuffled (Fisher and Yates). Depends on seed and epoch alone.
inline std::vector<Index> shuffled(Index count, std::uint64_t seed, std::uint64_t epoch) {
    constexpr std::uint64_t shuffle_stream = 0x63686E6B;  // its own, so that dropout's numbers are not used again
    Generator generator;
    generator.set_state({seed, shuffle_stream, epoch});
    const RandomCall random = generator.next_call();
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::uint64_t i = order.size(); i > 1; --i) {
        const auto words = random.block(i);
        const std::uint64_t word = std::uint64_t{words[0]} << 32U | words[1];
        std::swap(order[i - 1], order[word % i]);  // 64 bits: the bias of the remainder is below 2⁻³⁰
    }
    return order;
}

}  // namespace detail

/// Where a training run stands in its data.
struct ChunkPosition {
    Index epoch = 0, batch = 0;  ///< the next batch is number `batch` of epoch `epoch`
    friend bool operator==(const ChunkPosition&, const ChunkPosition&) = default;
};

/// Training batches of one long text: chunk i has inputs x[iL, iL+L) and the targets shifted by one. Each epoch gives
/// every chunk once, in an order that depends on (seed, epoch) alone. The last batch of an epoch may have fewer rows;
/// the ids behind the last whole chunk are left out.
class TrainingChunks {
public:
    /// @param length  L, inputs per chunk
    /// @param batch   chunks per batch
    /// @throws usage_error if a size is below 1, or the text is shorter than one chunk and its last target
    TrainingChunks(std::vector<std::int32_t> ids, Index length, Index batch, std::uint64_t seed)
        : ids_(std::move(ids)), length_(length), batch_(std::min(batch, static_cast<Index>(ids_.size()))), seed_(seed) {
        detail::require_chunk_sizes("TrainingChunks", length, batch);
        require<usage_error>(tokens() > length, "TrainingChunks",
                             "the text must have at least one token more than a chunk: give more text or a smaller "
                             "chunk length",
                             {{"tokens", tokens()}, {"length", length}});
        seek({});
    }

    Index tokens() const { return static_cast<Index>(ids_.size()); }
    Index chunks() const { return (tokens() - 1) / length_; }
    Index batches_per_epoch() const { return detail::ceil_div(chunks(), batch_); }

    const ChunkPosition& position() const { return position_; }

    /// Goes to a position that an earlier run with the same settings was at. @throws index_error if there is none such
    void seek(const ChunkPosition& position) {
        require<index_error>(
            position.epoch >= 0 && position.batch >= 0 && position.batch < batches_per_epoch(), "TrainingChunks::seek",
            "the position must be in the data: is it the same text?",
            {{"epoch", position.epoch}, {"batch", position.batch}, {"batches_per_epoch", batches_per_epoch()}});
        position_ = position;
        order_ = detail::shuffled(chunks(), seed_, static_cast<std::uint64_t>(position.epoch));
    }

    /// The batch at the position, which moves on: after the last of an epoch to the first of the next.
    ChunkBatch next() {
        ChunkBatch rows;
        rows.length = length_;
        const Index end = std::min(chunks(), (position_.batch + 1) * batch_);
        for (Index i = position_.batch * batch_; i < end; ++i)
            detail::append_chunk(rows, ids_, order_[static_cast<std::size_t>(i)] * length_);
        if (position_.batch + 1 == batches_per_epoch())
            seek({position_.epoch + 1, 0});
        else
            ++position_.batch;
        return rows;
    }

private:
    std::vector<std::int32_t> ids_;
    Index length_, batch_;
    std::uint64_t seed_;
    ChunkPosition position_;
    std::vector<Index> order_;
};

/// Evaluation batches of one long text, in its order: N ids give N−1 targets, each once. The last, partial chunk
/// counts and is a batch of its own.
class EvaluationChunks {
public:
    /// @throws usage_error if a size is below 1, or the text has fewer than two tokens
    EvaluationChunks(std::vector<std::int32_t> ids, Index length, Index batch)
        : ids_(std::move(ids)), length_(length), batch_(std::min(batch, static_cast<Index>(ids_.size()))) {
        detail::require_chunk_sizes("EvaluationChunks", length, batch);
        require<usage_error>(ids_.size() >= 2, "EvaluationChunks",
                             "the text must have at least 2 tokens: give more text", {{"tokens", ids_.size()}});
    }

    Index targets() const { return static_cast<Index>(ids_.size()) - 1; }
    Index batches() const { return detail::ceil_div(whole(), batch_) + (targets() % length_ != 0); }

    /// Batch i. @throws index_error if i is not in [0, batches)
    ChunkBatch operator[](Index i) const {
        require<index_error>(i >= 0 && i < batches(), "EvaluationChunks",
                             "the batch must be at least 0 and less than their number",
                             {{"batch", i}, {"batches", batches()}});
        ChunkBatch rows;
        const Index begin = i * batch_, end = std::min(whole(), begin + batch_);
        rows.length = begin < end ? length_ : targets() % length_;
        if (begin >= end) detail::append_chunk(rows, ids_, whole() * length_);
        for (Index chunk = begin; chunk < end; ++chunk) detail::append_chunk(rows, ids_, chunk * length_);
        return rows;
    }

private:
    Index whole() const { return targets() / length_; }

    std::vector<std::int32_t> ids_;
    Index length_, batch_;
};

}  // namespace gflow

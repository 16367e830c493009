#include <gflow/text/chunks.hpp>
#include <set>

#include "support/catch.hpp"

using gflow::ChunkBatch;
using gflow::ChunkPosition;
using gflow::EvaluationChunks;
using gflow::Index;
using gflow::TrainingChunks;
using gflow::test::contains;

namespace {

std::vector<std::int32_t> counting(Index n) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(n));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

/// Checks shape and shift; gives the first input of each row.
std::vector<std::int64_t> starts(const ChunkBatch& rows) {
    REQUIRE(static_cast<Index>(rows.inputs.size()) == rows.batch * rows.length);
    REQUIRE(rows.targets.size() == rows.inputs.size());
    std::vector<std::int64_t> firsts;
    for (std::size_t i = 0; i < rows.inputs.size(); ++i) {
        CHECK(rows.targets[i] == rows.inputs[i] + 1);
        if (i % static_cast<std::size_t>(rows.length) == 0) firsts.push_back(rows.inputs[i]);
        CHECK(rows.inputs[i] == firsts.back() + static_cast<Index>(i) % rows.length);
    }
    return firsts;
}

std::vector<std::int64_t> epoch_of(TrainingChunks& chunks) {
    std::vector<std::int64_t> order;
    for (Index i = 0; i < chunks.batches_per_epoch(); ++i)
        for (const auto start : starts(chunks.next())) order.push_back(start);
    return order;
}

}  // namespace

TEST_CASE("an epoch gives every whole chunk once, and leaves out the rest") {
    TrainingChunks chunks(counting(48), 5, 4, 7);  // 47 targets: 9 chunks and 2 ids more
    CHECK(chunks.chunks() == 9);
    CHECK(chunks.batches_per_epoch() == 3);
    const auto first = epoch_of(chunks), second = epoch_of(chunks);
    for (const auto& order : {first, second})
        CHECK(std::set<std::int64_t>(order.begin(), order.end()) ==
              std::set<std::int64_t>{0, 5, 10, 15, 20, 25, 30, 35, 40});
    CHECK(first.size() == 9);
    CHECK(first != second);
    CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
    CHECK(chunks.position() == ChunkPosition{2, 0});
}

TEST_CASE("batches are full but for the last of an epoch") {
    TrainingChunks chunks(counting(48), 5, 4, 7);
    std::vector<Index> sizes;
    for (int i = 0; i < 4; ++i) sizes.push_back(chunks.next().batch);
    CHECK(sizes == std::vector<Index>{4, 4, 1, 4});
    CHECK(TrainingChunks(counting(48), 5, 1000, 7).next().batch == 9);
    CHECK(TrainingChunks(counting(48), 5, std::numeric_limits<Index>::max(), 7).next().batch == 9);
}

TEST_CASE("the order depends on seed and epoch alone, and these values stay") {
    TrainingChunks a(counting(101), 10, 2, 1), b(counting(101), 10, 5, 1), c(counting(101), 10, 2, 2);
    const auto order = epoch_of(a);
    CHECK(order == epoch_of(b));  // whatever the batch size
    CHECK(order != epoch_of(c));
    CHECK(order == std::vector<std::int64_t>{20, 70, 30, 0, 80, 40, 10, 60, 90, 50});
}

TEST_CASE("any position can be returned to") {
    TrainingChunks chunks(counting(60), 4, 3, 5), resumed(counting(60), 4, 3, 5);
    for (int i = 0; i < 12; ++i) {
        const ChunkPosition position = chunks.position();
        const ChunkBatch expected = chunks.next();
        resumed.seek(position);
        CHECK(resumed.position() == position);
        CHECK(resumed.next().inputs == expected.inputs);
        CHECK(resumed.position() == chunks.position());
    }
    CHECK_THROWS_AS(chunks.seek({0, chunks.batches_per_epoch()}), gflow::index_error);
    CHECK_THROWS_AS(chunks.seek({-1, 0}), gflow::index_error);
    CHECK_THROWS_WITH(chunks.seek({1, -1}), contains("epoch=1, batch=-1, batches_per_epoch=5"));
}

TEST_CASE("a shuffle is a permutation, without a favourite place") {
    CHECK(gflow::detail::shuffled(0, 1, 0).empty());
    CHECK(gflow::detail::shuffled(1, 1, 0) == std::vector<Index>{0});
    std::vector<int> where(5, 0);  // of element 0, over many epochs
    for (std::uint64_t epoch = 0; epoch < 5000; ++epoch) {
        auto order = gflow::detail::shuffled(5, 9, epoch);
        ++where[static_cast<std::size_t>(std::find(order.begin(), order.end(), 0) - order.begin())];
        std::sort(order.begin(), order.end());
        CHECK(order == std::vector<Index>{0, 1, 2, 3, 4});
    }
    for (const int count : where) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
}

TEST_CASE("the shortest text that makes a chunk, and one that does not") {
    TrainingChunks chunks(counting(6), 5, 4, 0);
    CHECK(starts(chunks.next()) == std::vector<std::int64_t>{0});
    CHECK_THROWS_AS(TrainingChunks(counting(5), 5, 4, 0), gflow::usage_error);
    CHECK_THROWS_WITH(TrainingChunks(counting(5), 5, 4, 0),
                      contains("tokens=5, length=5") && contains("smaller chunk length"));
    CHECK_THROWS_WITH(TrainingChunks({}, 5, 4, 0), contains("tokens=0, length=5"));
    CHECK_THROWS_WITH(TrainingChunks(counting(5), 0, 4, 0), contains("length=0"));
    CHECK_THROWS_WITH(TrainingChunks(counting(5), 2, 0, 0), contains("batch=0"));
}

TEST_CASE("evaluation counts every target once, in order, the last partial chunk too") {
    for (Index n = 2; n < 40; ++n)
        for (Index length : {1, 2, 5, 7, 64})
            for (Index batch : {1, 3, 100}) {
                const EvaluationChunks chunks(counting(n), length, batch);
                CHECK(chunks.targets() == n - 1);
                std::vector<std::int64_t> seen;
                for (Index i = 0; i < chunks.batches(); ++i) {
                    const ChunkBatch rows = chunks[i];
                    starts(rows);
                    CHECK(rows.batch >= 1);
                    CHECK(rows.batch <= batch);
                    CHECK((rows.length == length || (rows.batch == 1 && i + 1 == chunks.batches())));
                    seen.insert(seen.end(), rows.targets.begin(), rows.targets.end());
                }
                REQUIRE(static_cast<Index>(seen.size()) == n - 1);
                for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<Index>(i) + 1);
            }
}

TEST_CASE("evaluation needs two tokens and a batch that there is") {
    CHECK_THROWS_AS(EvaluationChunks({}, 5, 1), gflow::usage_error);
    CHECK_THROWS_WITH(EvaluationChunks(counting(1), 5, 1), contains("tokens=1"));
    CHECK_THROWS_WITH(EvaluationChunks(counting(9), 0, 1), contains("length=0"));
    const EvaluationChunks chunks(counting(9), 4, 1);
    CHECK(chunks.batches() == 2);
    CHECK_THROWS_AS(chunks[2], gflow::index_error);
    CHECK_THROWS_AS(chunks[-1], gflow::index_error);
}

#include <gflow/train/choices.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

TEST_CASE("Choices go to text and back, and the others are listed") {
    for (const auto choice : {nn::OffsetWeights::uniform, nn::OffsetWeights::learned, nn::OffsetWeights::token})
        CHECK(choice_from_text<nn::OffsetWeights>("x", choice_to_text(choice)) == choice);
    for (const auto choice : {nn::MixerOutput::none, nn::MixerOutput::linear, nn::MixerOutput::mlp})
        CHECK(choice_from_text<nn::MixerOutput>("x", choice_to_text(choice)) == choice);
    CHECK(choice_to_text(NormPlacement::pre) == "pre");
    CHECK(choice_to_text(Aggregate::sum) == "sum");
    CHECK(choice_to_text(Normalize::unit) == "unit");
    CHECK_THROWS_WITH(choice_from_text<Aggregate>("--aggregate", "max"),
                      contains("--aggregate must be one of mean, sum; got max"));
}

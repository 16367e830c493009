#include <gflow/train/checkpoint_folder.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

struct Scale : nn::Module {
    Tensor weight;
    explicit Scale(std::vector<float> values) : weight(from_vector(values)) { register_parameter("weight", weight); }
};

TrainingState example() {
    TrainingState s;
    s.step = 10;
    s.tokens = 40960;
    s.position = {1, 3};
    s.random = {0xFFFFFFFFFFFFFFFF, 2, 3};
    s.evaluated_at = 8;
    s.best_step = 4;
    s.best_loss = 0.1 + 0.2;
    s.last_loss = 1.0 / 3;
    s.seconds = 12.5;
    return s;
}

}  // namespace

TEST_CASE("TrainingState comes back exactly from JSON") {
    const TrainingState s = example();
    const TrainingState back = training_state_from_json(nlohmann::json::parse(to_json(s).dump()), "state.json");
    CHECK(back.step == s.step);
    CHECK(back.tokens == s.tokens);
    CHECK(back.position == s.position);
    CHECK(back.random == s.random);
    CHECK(back.evaluated_at == s.evaluated_at);
    CHECK(back.best_step == s.best_step);
    CHECK(back.best_loss == s.best_loss);
    CHECK(back.last_loss == s.last_loss);
    CHECK(back.seconds == s.seconds);
    nlohmann::json unknown = to_json(s), missing = unknown;
    unknown["more"] = 1;
    missing.erase("step");
    CHECK_THROWS_WITH(training_state_from_json(unknown, "state.json"), contains("unknown key \"more\""));
    CHECK_THROWS_WITH(training_state_from_json(missing, "state.json"), contains("\"step\" is missing"));
}

TEST_CASE("save_checkpoint writes a whole folder and replaces the one before") {
    const test::TemporaryFolder folder;
    Scale model({1, 2});
    AdamW optimizer(model.parameters());
    const TrainingState state = example();
    save_checkpoint(folder / "last", model, {{"model", "scale"}}, &optimizer, &state);
    model.weight.mutable_data<float>()[0] = 5;
    save_checkpoint(folder / "last", model, {{"model", "scale"}}, &optimizer, &state);
    CHECK(folder.names() == std::vector<std::string>{"last"});
    for (const char* file : {"model.safetensors", "config.json", "optimizer.safetensors", "state.json"})
        CHECK(std::filesystem::exists(folder / "last" / file));
    Scale other({0, 0});
    load_weights(folder / "last", other);
    CHECK(other.weight.to_vector<float>() == std::vector<float>{5, 2});

    save_checkpoint(folder / "best", model, {{"model", "scale"}});
    CHECK_FALSE(std::filesystem::exists(folder / "best" / "state.json"));
}

TEST_CASE("load_weights takes the folder of before when a swap was cut short") {
    const test::TemporaryFolder folder;
    Scale model({1, 2}), other({0, 0});
    save_checkpoint(folder / "last", model, {{"model", "scale"}});
    std::filesystem::rename(folder / "last", folder / "last.old");
    load_weights(folder / "last", other);
    CHECK(other.weight.to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("load_weights names a file that does not fit the model") {
    const test::TemporaryFolder folder;
    Scale model({1, 2}), other({0, 0, 0});
    save_checkpoint(folder / "best", model, {{"model", "scale"}});
    CHECK_THROWS_WITH(load_weights(folder / "best", other),
                      contains("model.safetensors does not fit") && contains("misshapen: weight"));
    CHECK_THROWS_AS(load_weights(folder / "nothing", other), io_error);
}

TEST_CASE("save_checkpoint leaves the checkpoint of before alone where it cannot write") {
    if (::geteuid() == 0) {
        WARN("skipped: root may write anywhere");
        return;
    }
    const test::TemporaryFolder folder;
    Scale model({1, 2}), other({0, 0});
    save_checkpoint(folder / "last", model, {{"model", "scale"}});
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK_THROWS_AS(save_checkpoint(folder / "last", model, {{"model", "scale"}}), io_error);
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    load_weights(folder / "last", other);
    CHECK(other.weight.to_vector<float>() == std::vector<float>{1, 2});
}

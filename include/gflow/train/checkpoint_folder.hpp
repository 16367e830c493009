#pragma once
#include <gflow/core/random.hpp>
#include <gflow/io/atomic_file.hpp>
#include <gflow/io/json_file.hpp>
#include <gflow/io/safetensors.hpp>
#include <gflow/nn/module.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/text/chunks.hpp>
#include <gflow/train/strict_object.hpp>

#include <filesystem>
#include <string>

namespace gflow {

/// Where a training run is: with weights and optimiser moments, all that it needs to go on exactly.
struct TrainingState {
    Index step = 0;            ///< updates done
    Index tokens = 0;          ///< targets seen
    ChunkPosition position{};  ///< of the next batch
    Generator::State random{};
    Index evaluated_at = 0;  ///< last step with an evaluation; 0: none yet
    Index best_step = 0;
    double best_loss = 0;
    double last_loss = 0;   ///< validation loss of the last evaluation
    double seconds = 0;     ///< spent so far, in all sessions
    Index peak_memory = 0;  ///< bytes, the highest of all sessions
};

inline nlohmann::ordered_json to_json(const TrainingState& s) {
    return {{"step", s.step},
            {"tokens", s.tokens},
            {"epoch", s.position.epoch},
            {"batch", s.position.batch},
            {"random", {{"seed", s.random.seed}, {"stream", s.random.stream}, {"calls", s.random.calls}}},
            {"evaluated_at", s.evaluated_at},
            {"best_step", s.best_step},
            {"best_loss", s.best_loss},
            {"last_loss", s.last_loss},
            {"seconds", s.seconds},
            {"peak_memory", s.peak_memory}};
}

/// @throws io_error naming the key that is missing, unknown or of the wrong type
inline TrainingState training_state_from_json(const nlohmann::json& json, const std::string& where) {
    StrictObject reader(json, where);
    StrictObject random(reader.at("random"), where + ", random");
    TrainingState s;
    s.step = reader.need<Index>("step");
    s.tokens = reader.need<Index>("tokens");
    s.position = {reader.need<Index>("epoch"), reader.need<Index>("batch")};
    s.random = {random.need<std::uint64_t>("seed"), random.need<std::uint64_t>("stream"),
                random.need<std::uint64_t>("calls")};
    s.evaluated_at = reader.need<Index>("evaluated_at");
    s.best_step = reader.need<Index>("best_step");
    s.best_loss = reader.need<double>("best_loss");
    s.last_loss = reader.need<double>("last_loss");
    s.seconds = reader.need<double>("seconds");
    s.peak_memory = reader.need<Index>("peak_memory");
    random.finish();
    reader.finish();
    if (s.step < 0 || s.tokens < 0 || s.position.epoch < 0 || s.position.batch < 0)
        throw io_error(where + ": step, tokens, epoch and batch must be at least 0: the file is damaged");
    return s;
}

/// Writes model.safetensors and config.json as a folder, beside its place, and swaps it in: a reader finds the folder
/// of before or the new one, and a crash leaves one of them whole.
/// @param optimizer, state  written too (optimizer.safetensors, state.json), unless null
/// @throws io_error naming path, reason and remedy; the folder of before is then untouched
inline void save_checkpoint(const std::filesystem::path& folder, const nn::Module& model,
                            const nlohmann::ordered_json& config, const AdamW* optimizer = nullptr,
                            const TrainingState* state = nullptr) {
    const std::filesystem::path fresh = detail::with_suffix(folder, ".new");
    std::error_code ignored;
    std::filesystem::remove_all(fresh, ignored);
    try {
        make_directory(fresh, "save_checkpoint");
        save_safetensors(fresh / "model.safetensors", model.state_dict(), {{"format", "pt"}});
        write_json(fresh / "config.json", config, "save_checkpoint");
        if (optimizer != nullptr) save_safetensors(fresh / "optimizer.safetensors", optimizer->state());
        if (state != nullptr) write_json(fresh / "state.json", to_json(*state), "save_checkpoint");
        replace_directory(fresh, folder);
    } catch (...) {
        std::filesystem::remove_all(fresh, ignored);
        throw;
    }
}

/// Overwrites the model's weights with those of a checkpoint folder.
/// @throws io_error if they are missing, damaged, or not those of this model
inline void load_weights(const std::filesystem::path& folder, nn::Module& model) {
    const std::filesystem::path file = recover_directory(folder) / "model.safetensors";
    const TensorMap weights = load_safetensors(file);
    try {
        model.load_state_dict(weights);
    } catch (const shape_error& problem) {
        throw io_error(file.string() + " does not fit its config.json: " + problem.what());
    }
}

}  // namespace gflow

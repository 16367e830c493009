#pragma once
#include <gflow/io/json_file.hpp>
#include <gflow/models/language_model.hpp>
#include <gflow/text/load_tokenizer.hpp>
#include <gflow/train/checkpoint_folder.hpp>
#include <gflow/train/lm_corpus.hpp>
#include <gflow/train/model_file.hpp>

#include <sys/file.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gflow {

namespace detail {

inline bool path_exists(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Everything that a run writes into its folder.
inline std::vector<std::string> run_files() {
    return {"last",        "last.old",      "best",          "best.old",       "config.json",
            "result.json", "metrics.jsonl", "tokenizer.txt", "tokenizer.model"};
}

/// Within a run's folder: the earlier run, while a new one begins in its place (train/replaced_run.hpp).
inline constexpr const char* set_aside = "replaced";

}  // namespace detail

/// Whether a folder holds a run, or a part of one.
inline bool holds_run(const std::filesystem::path& folder) {
    for (const std::string& name : detail::run_files())
        if (detail::path_exists(folder / name)) return true;
    return detail::path_exists(folder / detail::set_aside);
}

/// Removes a run, and nothing else that lies in its folder.
/// @throws io_error naming what cannot be removed
inline void remove_run(const std::filesystem::path& folder) {
    for (const std::string& name : detail::run_files()) {
        std::error_code failure;
        std::filesystem::remove_all(folder / name, failure);
        if (failure) detail::throw_io("remove_run", "remove", folder / name, failure.value());
    }
}

/// Keeps a folder for one process: a run that is resumed twice at once would mix its files.
/// A folder that had to be made for it is removed again at the end if nothing was put into it.
class FolderClaim {
public:
    /// @throws io_error if the folder cannot be made or written, or another process has it
    explicit FolderClaim(std::filesystem::path folder) : folder_(std::move(folder)) {
        made_ = !detail::path_exists(folder_);
        make_directory(folder_, "train_lm");
        descriptor_ = detail::FileDescriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!descriptor_) detail::throw_io("train_lm", "open", folder_, errno);
        if (::access(folder_.c_str(), W_OK | X_OK) != 0) detail::throw_io("train_lm", "write into", folder_, errno);
        if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            throw io_error(folder_.string() + " is in use by another run: wait for it, or choose another folder");
    }
    FolderClaim(const FolderClaim&) = delete;
    FolderClaim& operator=(const FolderClaim&) = delete;
    ~FolderClaim() {
        std::error_code ignored;
        if (made_) std::filesystem::remove(folder_, ignored);  // only an empty folder can be removed so
    }

private:
    std::filesystem::path folder_;
    bool made_ = false;
    detail::FileDescriptor descriptor_;
};

/// A trained model with its tokenizer, as evaluate and generate need them.
struct LoadedModel {
    std::unique_ptr<LanguageModel> model{};
    std::unique_ptr<Tokenizer> tokenizer{};
    nlohmann::json config{};
    std::filesystem::path folder{};  ///< the checkpoint that was read
};

namespace detail {

/// The tokenizer that a config.json describes, from the folder of its run.
inline std::unique_ptr<Tokenizer> load_run_tokenizer(const nlohmann::json& config, const std::filesystem::path& folder,
                                                     const std::string& where) {
    StrictObject reader(config, where);
    StrictObject described(reader.at("tokenizer"), where + ", tokenizer");
    const std::filesystem::path file = folder / described.need<std::string>("file");
    auto tokenizer = load_tokenizer(described.need<std::string>("kind"), file,
                                    {.unk_as_token = described.need<bool>("unk_as_token")});
    if (described.need<std::string>("fingerprint") != fingerprint(read_file(file, "load_run")))
        throw io_error(file.string() + " is not the tokenizer that the model was trained with: put that one back");
    return tokenizer;
}

}  // namespace detail

/// make_model for the config.json of a run, where settings out of range mean a damaged file.
/// @throws io_error naming the file and what is wrong with it
inline std::unique_ptr<LanguageModel> make_saved_model(const nlohmann::json& config, const std::string& where,
                                                       bool recompute = false) {
    try {
        return make_model(config, where, recompute);
    } catch (const io_error&) {
        throw;
    } catch (const error& problem) {
        throw io_error(where + ": " + problem.what());
    }
}

/// Loads a checkpoint: a run's folder (its "best" or "last"), or the folder of a checkpoint itself. The model is in
/// evaluation mode.
/// @throws io_error if something is missing, damaged, or does not fit;  usage_error if `which` is neither
inline LoadedModel load_run(const std::filesystem::path& folder, const std::string& which = "best") {
    if (which != "best" && which != "last") throw usage_error("--which must be best or last; got " + which);
    if (!std::filesystem::is_directory(folder))
        throw io_error(folder.string() + " is no folder: name the --out folder of a training run");
    LoadedModel loaded;
    loaded.folder = detail::path_exists(folder / "model.safetensors") ? folder : recover_directory(folder / which);
    if (!detail::path_exists(loaded.folder / "model.safetensors"))
        throw io_error(folder.string() + " has no checkpoint \"" + which + "\"" +
                       (which == "best" && detail::path_exists(folder / "last")
                            ? ": the run has not been evaluated yet; use --which last"
                            : ": name the --out folder of a training run"));
    const std::string where = (loaded.folder / "config.json").string();
    loaded.config = read_json(loaded.folder / "config.json", "load_run");
    loaded.model = make_saved_model(loaded.config, where);
    load_weights(loaded.folder, *loaded.model);
    loaded.model->eval();
    const std::filesystem::path run = detail::without_slash(std::filesystem::absolute(loaded.folder)).parent_path();
    loaded.tokenizer = detail::load_run_tokenizer(loaded.config, run, where);
    if (loaded.tokenizer->vocab_size() != loaded.model->vocab_size())
        throw io_error(where + ": the tokenizer has " + std::to_string(loaded.tokenizer->vocab_size()) +
                       " pieces, the model " + std::to_string(loaded.model->vocab_size()) +
                       ": put the run's own tokenizer file back");
    return loaded;
}

}  // namespace gflow

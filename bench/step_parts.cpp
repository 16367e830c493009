// Where a training step goes: the time of each of its parts beside the least that the machine needs for it. Every part
// is run alone at the shapes that it has in the step, and counts as often as it occurs there. One JSON line for each
// part, and one for the whole step.
#include <CLI/CLI.hpp>
#include <functional>
#include <gflow/optim/adamw.hpp>
#include <gflow/version.hpp>
#include <iostream>
#include <string>

#include "../examples/support/program.hpp"
#include "models.hpp"
#include "peak.hpp"
#include "timing.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr const char* examples = R"(Examples:
  step_parts --model grassmann --offsets all --threads 2
  step_parts --model transformer --preset paper-12 --repeats 5

The floor of a part is the larger of two times: its matrix products at the measured peak of multiply-adds, and every number
that it must read or write, once, at the measured rate for data of that size. Parts run over and over, so what fits into a
cache stays there, in the part as in the measured rate. rest_ms is the step less the sum of the parts.)";

struct Arguments {
    ModelChoice choice;
    int threads = 0;
    Index repeats = 7, batch = 0;
};

/// What has to be done at least: operations of matrix products, and float32 numbers read or written.
struct Work {
    Index flops = 0, numbers = 0;
};

struct Part {
    std::string name;
    Index count;  ///< times in a step
    Work forward, backward;
    std::vector<Tensor> inputs;
    std::function<Tensor(const std::vector<Tensor>&)> run;
};

Part linear_part(const std::string& name, Index count, const nn::Linear& layer, const Tensor& x) {
    const Index in = layer.weight.size(1), out = layer.weight.size(0), rows = x.numel() / in, w = in * out;
    return {name,
            count,
            {2 * rows * w, rows * (in + out) + w},
            {4 * rows * w, rows * (2 * in + out) + 2 * w},
            {x},
            [&layer](const std::vector<Tensor>& t) { return layer(t[0]); }};
}

/// Parts that both models share, but the head.  h: [batch, length, d]
template <class Block>
void add_shared(std::vector<Part>& parts, const LanguageModel& model, const Block& block, const Tensor& ids,
                const Tensor& h) {
    const Index n = h.numel(), layers = model.layers(), table = model.token_embedding.weight.numel();
    const Tensor wide = randn({h.size(0), h.size(1), block.feed_forward.up.weight.size(0)});
    parts.push_back({"embedding", 1, {0, 2 * n}, {0, n + table}, {ids}, [&model](const std::vector<Tensor>& t) {
                         return model.token_embedding(t[0]) +
                                slice(model.position_embedding.weight, 0, 0, t[0].size(1));
                     }});
    parts.push_back(linear_part("feed-forward, up", layers, block.feed_forward.up, h));
    parts.push_back({"feed-forward, GELU",
                     layers,
                     {0, 2 * wide.numel()},
                     {0, 3 * wide.numel()},
                     {wide},
                     [](const std::vector<Tensor>& t) { return gelu(t[0]); }});
    parts.push_back(linear_part("feed-forward, down", layers, block.feed_forward.down, wide));
    const Index residuals = std::decay_t<decltype(block.mixer)>::has_own_skip ? layers : 2 * layers;
    const Index norms = 2 * layers + (model.final_norm ? 1 : 0) - residuals;
    if (norms > 0)
        parts.push_back({"LayerNorm", norms, {0, 2 * n}, {0, 3 * n}, {h}, [&block](const std::vector<Tensor>& t) {
                             return block.mixer_norm(t[0]);
                         }});
    parts.push_back(
        {"residual and LayerNorm", residuals, {0, 4 * n}, {0, 4 * n}, {h, h}, [&block](const std::vector<Tensor>& t) {
             return block.feed_forward_norm(t[0], t[1]);
         }});
    parts.push_back({"dropout", 2 * layers + 1, {0, 2 * n}, {0, 2 * n}, {h}, [&block](const std::vector<Tensor>& t) {
                         return block.dropout(t[0]);
                     }});
}

void add_mixer(std::vector<Part>& parts, const GrassmannLM& model, const Tensor& h) {
    const Index n = h.numel(), layers = model.layers(), rows = n / model.d_model();
    const auto& mixer = model.blocks.front()->mixer;
    const auto& options = mixer.options();
    const Index planes = mixer.plucker.weight.numel(), states = rows * mixer.reduce.weight.size(0);
    parts.push_back(linear_part("mixer, reduce", layers, mixer.reduce, h));
    for (const auto& block : model.blocks) {
        const PluckerMixOptions mix{.heads = options.heads,
                                    .offsets = block->mixer.options().offsets,
                                    .normalize = options.normalize,
                                    .aggregate = options.aggregate};
        parts.push_back({"mixer, plucker",
                         1,
                         {2 * rows * planes, states + planes + n},
                         {4 * rows * planes, 2 * states + 2 * planes + n},
                         {mixer.reduce(h).detach()},
                         [&plucker = block->mixer.plucker, mix](const std::vector<Tensor>& t) {
                             return plucker_mix(t[0], plucker.weight, plucker.bias, mix);
                         }});
    }
    const Index w = mixer.gate.weight.numel();
    parts.push_back({"mixer, gate",
                     layers,
                     {2 * rows * w, 3 * n + w},
                     {4 * rows * w, 5 * n + 2 * w},
                     {h, h},
                     [&mixer](const std::vector<Tensor>& t) {
                         return mixer.gate(concat({t[0], t[1]}, -1));
                     }});
    parts.push_back({"mixer, blend", layers, {0, 4 * n}, {0, 7 * n}, {h, h, h}, [](const std::vector<Tensor>& t) {
                         return blend(t[0], t[1], t[2]);
                     }});
}

void add_mixer(std::vector<Part>& parts, const TransformerLM& model, const Tensor& h) {
    const Index n = h.numel(), layers = model.layers(), pairs = n * (h.size(1) + 1);
    const auto& mixer = model.blocks.front()->mixer;
    const AttentionOptions options{.heads = model.options().heads, .dropout = model.options().attention_dropout};
    parts.push_back(linear_part("mixer, q k v", layers, mixer.qkv, h));
    parts.push_back({"mixer, attention",
                     layers,
                     {2 * pairs, 4 * n},
                     {5 * pairs, 8 * n},
                     {mixer.qkv(h).detach()},
                     [options](const std::vector<Tensor>& t) { return causal_attention(t[0], options); }});
    parts.push_back(linear_part("mixer, output", layers, mixer.output, h));
}

void add_head(std::vector<Part>& parts, const LanguageModel& model, const Tensor& targets, const Tensor& h) {
    const Index n = h.numel(), w = model.head_weight().numel();
    // Forward computes all three products: the logits are not kept.
    parts.push_back({"head and loss",
                     1,
                     {6 * n * model.vocab_size(), 2 * n + 2 * w},
                     {0, 0},
                     {h},
                     [&model, targets](const std::vector<Tensor>& t) {
                         return linear_cross_entropy(t[0], model.head_weight(), targets);
                     }});
}

template <class Model>
std::vector<Part> parts_of(const Model& model, const Tensor& inputs, const Tensor& targets) {
    std::vector<Part> parts;
    const Tensor h = randn({inputs.size(0), inputs.size(1), model.d_model()});
    add_mixer(parts, model, h);
    add_shared(parts, model, *model.blocks.front(), inputs, h);
    add_head(parts, model, targets, h);
    return parts;
}

struct Measured {
    std::string name;
    Index count = 0;
    double forward = 0, backward = 0;  ///< seconds in a step
    double forward_floor = 0, backward_floor = 0;
    Work forward_work{}, backward_work{};  ///< in a step
};

class Profile {
public:
    Profile(const LanguageModel& model, Index repeats) : model_(model), repeats_(repeats), peak_(peak_flops()) {}

    void add(const Part& part) {
        std::vector<Tensor> leaves;
        for (const Tensor& x : part.inputs) {
            leaves.push_back(x.detach());
            if (is_floating(x.dtype())) leaves.back().set_requires_grad();
        }
        std::vector<double> forward, backward_;
        Tensor dy;
        for (Index i = 0; i <= repeats_; ++i) {
            Tensor y;
            const double there = seconds_of([&] { y = part.run(leaves); });
            if (!dy.defined()) dy = full(y.shape(), 1);
            const double back = seconds_of([&] { backward(y, dy); });
            for (Tensor& x : leaves) x.zero_grad();
            model_.zero_grad();
            if (i == 0) continue;  // warms up
            forward.push_back(there);
            backward_.push_back(back);
        }
        note(part.name, part.count, median(forward), part.forward, median(backward_), part.backward);
    }

    /// Adds to the part of that name, or makes one.
    void note(const std::string& name, Index count, double forward, Work forward_work, double backward,
              Work backward_work) {
        if (all_.empty() || all_.back().name != name) all_.push_back({.name = name});
        Measured& part = all_.back();
        const auto times = static_cast<double>(count);
        part.count += count;
        part.forward += times * forward;
        part.backward += times * backward;
        part.forward_floor += times * floor_of(forward_work);
        part.backward_floor += times * floor_of(backward_work);
        part.forward_work.flops += count * forward_work.flops;
        part.forward_work.numbers += count * forward_work.numbers;
        part.backward_work.flops += count * backward_work.flops;
        part.backward_work.numbers += count * backward_work.numbers;
    }

    const std::vector<Measured>& parts() const { return all_; }
    double peak() const { return peak_; }
    double memory() { return rate_.of_memory(); }

private:
    double floor_of(Work work) {
        const double bytes = 4.0 * static_cast<double>(work.numbers);
        return std::max(static_cast<double>(work.flops) / peak_, bytes / rate_(bytes));
    }

    const LanguageModel& model_;
    Index repeats_;
    double peak_;
    MemoryRate rate_;
    std::vector<Measured> all_;
};

nlohmann::ordered_json line_of(const Measured& part) {
    const auto gflop = [](Work work) { return 1e-9 * static_cast<double>(work.flops); };
    const auto megabytes = [](Work work) { return 4e-6 * static_cast<double>(work.numbers); };
    return {{"part", part.name},
            {"count", part.count},
            {"forward_ms", 1e3 * part.forward},
            {"backward_ms", 1e3 * part.backward},
            {"forward_gflop", gflop(part.forward_work)},
            {"backward_gflop", gflop(part.backward_work)},
            {"forward_mb", megabytes(part.forward_work)},
            {"backward_mb", megabytes(part.backward_work)},
            {"forward_floor_ms", 1e3 * part.forward_floor},
            {"backward_floor_ms", 1e3 * part.backward_floor}};
}

int run(const Arguments& arguments) {
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    manual_seed(1);
    const auto model = bench::make_model(arguments.choice);
    const Index batch = arguments.batch > 0 ? arguments.batch : default_batch(arguments.choice.preset);
    Generator generator(2);
    const Tensor inputs = random_ids(batch, model->max_length(), model->vocab_size(), generator);
    const Tensor targets = random_ids(batch, model->max_length(), model->vocab_size(), generator);
    AdamW optimizer(decay_groups(*model, 0.01), {.lr = 3e-4});
    std::vector<double> steps, updates;
    const auto step = [&](bool counts) {
        const double there = seconds_of([&] { model->loss(inputs, targets).backward(); });
        const double update = seconds_of([&] {
            optimizer.step(clip_scale(grad_norm(optimizer.parameters()), 1));
            optimizer.zero_grad();
        });
        if (!counts) return;
        steps.push_back(there + update);
        updates.push_back(update);
    };
    for (int warm = 0; warm < 2; ++warm) step(false);
    for (Index i = 0; i < arguments.repeats; ++i) step(true);

    Profile profile(*model, arguments.repeats);
    const auto* grassmann = dynamic_cast<const GrassmannLM*>(model.get());
    for (const Part& part : grassmann ? parts_of(*grassmann, inputs, targets)
                                      : parts_of(dynamic_cast<const TransformerLM&>(*model), inputs, targets))
        profile.add(part);
    // AdamW reads p, g, m, v and writes p, m, v; the norm reads g once more.
    profile.note("optimiser", 1, median(updates), {0, 8 * model->parameter_count()}, 0, {});

    double sum = 0, floor = 0;
    nlohmann::ordered_json common{{"program", "gflow"},
                                  {"version", version},
                                  {"model", arguments.choice.model},
                                  {"preset", arguments.choice.preset},
                                  {"offsets", offsets_of(arguments.choice)},
                                  {"threads", num_threads()},
                                  {"batch", batch},
                                  {"seq_len", model->max_length()},
                                  {"repeats", arguments.repeats}};
    const auto print = [&](const nlohmann::ordered_json& own) {
        nlohmann::ordered_json line = common;
        line.update(own);
        std::cout << line.dump() << '\n';
    };
    for (const Measured& part : profile.parts()) {
        sum += part.forward + part.backward;
        floor += part.forward_floor + part.backward_floor;
        print(line_of(part));
    }
    const double whole = median(steps);
    print({{"part", "step"},
           {"step_ms", 1e3 * whole},
           {"sum_ms", 1e3 * sum},
           {"rest_ms", 1e3 * (whole - sum)},
           {"floor_ms", 1e3 * floor},
           {"peak_gflop_per_s", 1e-9 * profile.peak()},
           {"memory_gb_per_s", 1e-9 * profile.memory()}});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Shows where a training step goes, and the least that each part can take.", "step_parts");
    app.footer(examples);
    add_options(app, arguments.choice);
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--repeats", arguments.repeats, "calls of each part to take the median of")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--seq-len", arguments.choice.seq_len, "default: that of the preset")->check(program::positive);
    app.add_option("--batch", arguments.batch, "default: that of the preset")->check(program::positive);
    return program::run(app, argc, argv, [&] { return run(arguments); });
}

#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>
#include <gflow/core/random.hpp>
#include <gflow/core/span.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace gflow {

struct SamplerOptions {
    double temperature = 1;  ///< logits are divided by it; 0 takes the most probable token
    Index top_k = 0;         ///< only the k most probable tokens; 0: all
    double top_p = 1;        ///< only the most probable tokens that together reach p
    std::uint64_t seed = 0;
};

/// Draws tokens from logits. The same seed and logits give the same tokens.
class Sampler {
public:
    /// @throws usage_error unless temperature ≥ 0, top_k ≥ 0 and 0 < top_p ≤ 1
    explicit Sampler(SamplerOptions options) : options_(options), generator_(options.seed, sampler_stream) {
        require<usage_error>(std::isfinite(options.temperature) && options.temperature >= 0, "Sampler",
                             "the temperature must be at least 0", {{"temperature", options.temperature}});
        require<usage_error>(options.top_k >= 0, "Sampler", "top_k must be at least 0; 0 keeps all tokens",
                             {{"top_k", options.top_k}});
        require<usage_error>(options.top_p > 0 && options.top_p <= 1, "Sampler", "top_p must be above 0 and at most 1",
                             {{"top_p", options.top_p}});
    }

    /// The next token. Of equal logits the smaller id counts as the more probable.
    /// @throws error if there are no logits, or one is NaN, or none is finite
    Index operator()(Vector<const float> logits) {
        check(logits);
        if (options_.temperature == 0) return std::max_element(logits.begin(), logits.end()) - logits.begin();
        candidates(logits);
        const double peak = logits[order_[0]];
        weights_.clear();
        for (const Index id : order_) weights_.push_back(std::exp((logits[id] - peak) / options_.temperature));
        if (options_.top_p < 1) keep_nucleus();
        const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
        const PhiloxBlock words = generator_.next_call().block(0);
        double left = sum * (words[0] + words[1] * 0x1p-32) * 0x1p-32;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            if (left < weights_[i]) return order_[i];
            left -= weights_[i];
        }
        return order_[0];  // only rounding leads here
    }

private:
    static constexpr std::uint64_t sampler_stream = 0x73616D70;

    static void check(Vector<const float> logits) {
        require(logits.size() > 0, "Sampler", "at least one logit is needed");
        bool finite = false;
        for (const float x : logits) {
            require<error>(!std::isnan(x), "Sampler", "logits must be numbers: has the training diverged?",
                           {{"logit", x}});
            require<error>(x < std::numeric_limits<float>::infinity(), "Sampler", "logits must be below infinity",
                           {{"logit", x}});
            finite = finite || std::isfinite(x);
        }
        require<error>(finite, "Sampler", "at least one logit must be finite");
    }

    /// The ids that may be drawn, the most probable first.
    void candidates(Vector<const float> logits) {
        order_.resize(static_cast<std::size_t>(logits.size()));
        std::iota(order_.begin(), order_.end(), Index{0});
        const auto before = [&](Index a, Index b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
        const Index keep = options_.top_k > 0 ? std::min(options_.top_k, logits.size()) : logits.size();
        std::partial_sort(order_.begin(), order_.begin() + keep, order_.end(), before);
        order_.resize(static_cast<std::size_t>(keep));
    }

    /// Cuts the tail: the fewest candidates whose share reaches top_p stay.
    void keep_nucleus() {
        const double wanted = options_.top_p * std::accumulate(weights_.begin(), weights_.end(), 0.0);
        double sum = 0;
        std::size_t kept = 0;
        while (kept < weights_.size() && sum < wanted) sum += weights_[kept++];
        weights_.resize(std::max<std::size_t>(kept, 1));
    }

    SamplerOptions options_;
    Generator generator_;
    std::vector<Index> order_;
    std::vector<double> weights_;
};

}  // namespace gflow

#pragma once
#include <gflow/autograd/backward.hpp>
#include <gflow/autograd/record.hpp>
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/random.hpp>

#include <utility>
#include <vector>

namespace gflow {

namespace detail {

/// f() with recording on and the random numbers of `state`; afterwards the generator is where it was, whatever happens.
template <class F>
Tensor replay(F f, const Generator::State& state) {
    struct Restore {
        Generator::State now = default_generator().state();
        ~Restore() { default_generator().set_state(now); }
    } restore;
    default_generator().set_state(state);
    const GradMode recording(true);
    return f();
}

}  // namespace detail

/// y = f(inputs), keeping only the inputs; backward computes f again. Trades time for the memory of f's insides.
/// Random ops inside f draw the same numbers again, so dropout masks agree. Leaves that f captures (the weights of a
/// layer) get their gradients too.
///
/// @param f  callable: const std::vector<Tensor>& → Tensor; must do the same each time it is called
template <class F>
Tensor checkpoint(F f, const std::vector<Tensor>& inputs) {
    if (!is_grad_enabled()) return f(inputs);
    const Generator::State random_before = default_generator().state();
    Tensor y;
    {
        const NoGrad keep_nothing;
        y = f(inputs);
    }
    // f may use weights that require gradients although no input does: the node must exist in any case.
    std::vector<Tensor> edges = inputs;
    edges.push_back(scalar(0).set_requires_grad());
    return record("checkpoint", edges, y.detach(), inputs,
                  [f, random_before, count = inputs.size()](const Saved& saved, const Tensor& dy, Gradients& d) {
                      std::vector<Tensor> again;
                      for (std::size_t i = 0; i < count; ++i) {
                          again.push_back(saved[i].detach());
                          if (d.needed(i)) again[i].set_requires_grad();
                      }
                      const Tensor y_again = detail::replay([&] { return f(again); }, random_before);
                      if (y_again.requires_grad()) backward(y_again, dy);
                      for (std::size_t i = 0; i < count; ++i)
                          if (again[i].grad().defined()) d.add(i, again[i].grad());
                  });
}

}  // namespace gflow

#include <gflow/gflow.hpp>

#include <cstdio>

namespace nn = gflow::nn;

int main() {
    nn::Linear encode({.in = 1, .out = 32}), decode({.in = 32, .out = 1});
    gflow::AdamW optimizer(gflow::parameters(encode, decode), {.lr = 1e-2});

    const gflow::Tensor x = 6.0 * gflow::rand({256, 1}) - 3.0;
    const gflow::Tensor y = gflow::exp(-(x * x));
    for (int step = 0; step <= 500; ++step) {
        const gflow::Tensor loss = gflow::mse_loss(decode(gflow::gelu(encode(x))), y);
        loss.backward();
        optimizer.step();
        optimizer.zero_grad();
        if (step % 100 == 0) std::printf("step %3d  loss %.6f\n", step, loss.item());
    }
}

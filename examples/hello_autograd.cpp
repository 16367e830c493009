// Fits a small net to the sine, and checks one of its gradients against differences.
#include <gflow/gflow.hpp>

#include <cstdio>

namespace nn = gflow::nn;
using gflow::Tensor;

int main() {
    gflow::manual_seed(0);
    nn::Linear encode({.in = 1, .out = 32}), decode({.in = 32, .out = 1});
    gflow::AdamW optimizer(gflow::parameters(encode, decode), {.lr = 1e-2});

    const Tensor x = 6.0 * gflow::rand({256, 1}) - 3.0;
    const Tensor y = gflow::from_eigen(gflow::eigen_view<float>(x).array().sin().matrix());
    for (int step = 0; step <= 1000; ++step) {
        const Tensor loss = gflow::mse_loss(decode(gflow::gelu(encode(x))), y);
        loss.backward();
        optimizer.step();
        optimizer.zero_grad();
        if (step % 250 == 0) std::printf("step %4d  loss %.6f\n", step, loss.item());
    }

    const auto wave = [](const std::vector<Tensor>& in) { return gflow::gelu(gflow::matmul(in[0], in[1])); };
    const auto check =
        gflow::gradcheck(wave, {gflow::randn({3, 4}, gflow::float64), gflow::randn({4, 2}, gflow::float64)});
    std::printf("gradients %s\n", check ? "agree with differences" : check.message.c_str());
    return check ? 0 : 1;
}

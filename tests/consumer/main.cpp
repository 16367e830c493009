// What a user's program may look like. (That gflow.hpp in several units links is the business of headers/.)
#include <gflow/core/create.hpp>
#include <gflow/kernels/micro_kernels.hpp>
#include <gflow/version.hpp>

#include <iostream>

gflow::Tensor twice(const gflow::Tensor& x);

int main(int argc, char**) {
    if (argc > 1) {
        std::cout << gflow::kernels::instruction_set() << "\n";
        return 0;
    }
    const gflow::Tensor x = gflow::ones({2, 3});
    std::cout << "gflow " << gflow::version << " " << twice(x).numel() << "\n";
}

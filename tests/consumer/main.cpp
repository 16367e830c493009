// What a user's program may look like: the facade in two translation units.
#include <gflow/gflow.hpp>
#include <iostream>

gflow::Tensor twice(const gflow::Tensor& x);

int main() {
    const gflow::Tensor x = gflow::ones({2, 3});
    std::cout << "gflow " << gflow::version << " " << twice(x).numel() << "\n";
}

// Matrix products at the shapes of the models: gflow's, Eigen's, and those of the libraries that the build found, in
// turn. One JSON line for each shape.
#include <CLI/CLI.hpp>
#include <gflow/core/random.hpp>
#include <gflow/core/tensor_view.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/version.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "../examples/support/program.hpp"
#include "peak.hpp"
#include "timing.hpp"

#if defined(GFLOW_BENCH_DNNL)
#include <dnnl.h>
#include <omp.h>
#endif
#if defined(GFLOW_BENCH_BLIS)
#include <blis.h>
#endif

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr const char* examples = R"(Examples:
  matrix_products --threads 1
  matrix_products --threads 2 --rounds 15

All contestants take turns within a round; gflop_per_s is each one's median over the rounds. oneDNN and BLIS take part
where the build found them (Debian: libdnnl-dev, libblis-dev).)";

/// C = A·B, the factors stored as they are or transposed.
struct Shape3 {
    const char* name;
    Index rows, cols, depth;
    bool transposed_a, transposed_b;
};

constexpr Shape3 shapes[] = {
    {"logits of 512 tokens", 512, 30522, 256, false, true},
    {"head, dh", 512, 256, 30522, false, false},
    {"head, dW", 30522, 256, 512, true, false},
    {"feed-forward up", 4096, 1024, 256, false, true},
    {"feed-forward down", 4096, 256, 1024, false, true},
    {"feed-forward up, dW", 1024, 256, 4096, true, false},
    {"feed-forward down, dW", 256, 1024, 4096, true, false},
    {"attention output", 4096, 256, 256, false, true},
    {"attention output, dW", 256, 256, 4096, true, false},
    {"Plücker projection", 4096, 256, 496, false, true},
};

struct Factors {
    Tensor a, b, c;
    const Shape3& shape;

    explicit Factors(const Shape3& s)
        : a(randn(s.transposed_a ? Shape{s.depth, s.rows} : Shape{s.rows, s.depth})),
          b(randn(s.transposed_b ? Shape{s.cols, s.depth} : Shape{s.depth, s.cols})),
          c(zeros({s.rows, s.cols})),
          shape(s) {}
    kernels::Factor<float> left() const { return {read_rows<float>(a), shape.transposed_a}; }
    kernels::Factor<float> right() const { return {read_rows<float>(b), shape.transposed_b}; }
};

using Multiply = void (*)(Factors&);
struct Contestant {
    const char* name;
    Multiply multiply;
};

void gflow_product(Factors& f) { kernels::gemm<float>(f.left(), f.right(), write_rows<float>(f.c)); }

/// Eigen's products on all threads: blocks of rows, or of columns where there are more of them.
void eigen_product(Factors& f) {
    const Matrix<float> c = write_rows<float>(f.c);
    const bool by_rows = c.rows() >= c.cols();
    const Index lines = by_rows ? c.rows() : c.cols(), block = (lines + num_threads() - 1) / num_threads();
    parallel_for(lines, block, [&](Index begin, Index end) {
        if (by_rows)
            kernels::eigen_gemm<float>(f.left().row_range(begin, end), f.right(), c.row_range(begin, end),
                                       kernels::Onto::overwrite);
        else
            kernels::eigen_gemm<float>(f.left(), f.right().col_range(begin, end), c.col_range(begin, end),
                                       kernels::Onto::overwrite);
    });
}

#if defined(GFLOW_BENCH_DNNL)
void dnnl_product(Factors& f) {
    const Shape3& s = f.shape;
    dnnl_sgemm(s.transposed_a ? 'T' : 'N', s.transposed_b ? 'T' : 'N', s.rows, s.cols, s.depth, 1, f.a.data<float>(),
               f.a.size(1), f.b.data<float>(), f.b.size(1), 0, f.c.mutable_data<float>(), s.cols);
}
#endif

#if defined(GFLOW_BENCH_BLIS)
void blis_product(Factors& f) {
    const Shape3& s = f.shape;
    float one = 1, zero = 0;
    bli_sgemm(s.transposed_a ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, s.transposed_b ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE,
              s.rows, s.cols, s.depth, &one, f.a.mutable_data<float>(), f.a.size(1), 1, f.b.mutable_data<float>(),
              f.b.size(1), 1, &zero, f.c.mutable_data<float>(), s.cols, 1);
}
#endif

std::vector<Contestant> contestants() {
    std::vector<Contestant> all{{"gflow", gflow_product}, {"Eigen", eigen_product}};
#if defined(GFLOW_BENCH_DNNL)
    all.push_back({"oneDNN", dnnl_product});
#endif
#if defined(GFLOW_BENCH_BLIS)
    all.push_back({"BLIS", blis_product});
#endif
    return all;
}

void use_threads(int threads) {
    if (threads > 0) set_num_threads(threads);
#if defined(GFLOW_BENCH_DNNL)
    omp_set_num_threads(num_threads());
#endif
#if defined(GFLOW_BENCH_BLIS)
    bli_thread_set_num_threads(num_threads());
#endif
}

struct Arguments {
    int threads = 0;
    Index rounds = 9;
};

void measure(const Shape3& shape, Index rounds) {
    Factors factors(shape);
    const std::vector<Contestant> all = contestants();
    std::vector<std::vector<double>> seconds(all.size());
    for (const Contestant& contestant : all) contestant.multiply(factors);  // warms up
    for (Index round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < all.size(); ++i)
            seconds[i].push_back(seconds_of([&] { all[i].multiply(factors); }));
    nlohmann::ordered_json line{{"program", "matrix_products"}, {"version", version}, {"product", shape.name},
                                {"rows", shape.rows},           {"cols", shape.cols}, {"depth", shape.depth},
                                {"threads", num_threads()},     {"rounds", rounds}};
    const double gflop = 2e-9 * static_cast<double>(shape.rows) * static_cast<double>(shape.cols * shape.depth);
    for (std::size_t i = 0; i < all.size(); ++i) line["gflop_per_s"][all[i].name] = gflop / median(seconds[i]);
    std::cout << line.dump() << std::endl;
}

int run(const Arguments& arguments) {
    use_threads(arguments.threads);
    for (const Shape3& shape : shapes) measure(shape, arguments.rounds);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times matrix products at the shapes of the models, beside other libraries.", "matrix_products");
    app.footer(examples);
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--rounds", arguments.rounds, "times that each contestant has its turn")
        ->check(program::positive)
        ->capture_default_str();
    return program::run(app, argc, argv, [&] { return run(arguments); });
}

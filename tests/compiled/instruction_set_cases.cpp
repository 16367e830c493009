#include <gflow/kernels/amx_permission.hpp>
#include <gflow/kernels/gemm.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct InstructionSet {
    const char* name;
    std::vector<std::string> flags;  // as Linux names them
};

const std::array<InstructionSet, 5> known{{{"baseline", {}},
                                           {"avx2", {"avx2", "fma"}},
                                           {"avx512", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}},
                                           {"avx512_bf16", {"avx512_bf16"}},
                                           {"amx_bf16", {"amx_tile", "amx_bf16"}}}};

/// What the system says of the first core.
std::vector<std::string> processor_flags() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.rfind("flags", 0) == 0) {
            std::istringstream words(line);
            return {std::istream_iterator<std::string>(words), {}};
        }
    return {};
}

/// The best set that the processor has, up to the one asked for.
std::string expected(const std::string& most) {
    const std::vector<std::string> flags = processor_flags();
    std::string best;
    for (const InstructionSet& set : known) {
        const bool there = std::all_of(set.flags.begin(), set.flags.end(), [&](const std::string& flag) {
            return std::find(flags.begin(), flags.end(), flag) != flags.end();
        });
        if (!there) break;
        if (set.name == std::string("amx_bf16") && !gflow::kernels::may_use_amx()) break;  // the system may refuse
        best = set.name;
        if (best == most) break;
    }
    return best;
}

}  // namespace

TEST_CASE("products use the best instruction set that processor and GFLOW_MAX_ISA allow") {
    const char* most = std::getenv("GFLOW_MAX_ISA");
    const std::string asked = most == nullptr ? "" : most;
    REQUIRE(gflow::kernels::instruction_set() == expected(asked));
    if (!asked.empty() && asked != gflow::kernels::instruction_set()) WARN("skipped: this processor lacks " << asked);
}

TEST_CASE("the micro-tile is that of the instruction set") {
    const gflow::kernels::MicroKernels& kernels = gflow::kernels::micro_kernels();
    const std::string set = kernels.instruction_set;
    const gflow::Index vector = set == "baseline" ? 16 : set == "avx2" ? 32 : 64;
    REQUIRE(kernels.float32.cols * 4 == 2 * vector);
    REQUIRE(kernels.float64.cols * 8 == 2 * vector);
    REQUIRE(kernels.bfloat16.cols == kernels.float32.cols);
    REQUIRE(kernels.float32.rows == (vector == 64 ? 14 : 6));
}

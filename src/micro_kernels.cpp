// The micro-kernels of one instruction set; compiled once for each, with GFLOW_COMPILED_ISA its name.
#include "micro_kernels.hpp"

#include <gflow/kernels/block_product.hpp>

#include <string_view>

using gflow::kernels::isa_name;
#define GFLOW_QUOTED(name) #name
#define GFLOW_QUOTE(name) GFLOW_QUOTED(name)
static_assert(isa_name == std::string_view(GFLOW_QUOTE(GFLOW_COMPILED_ISA)),
              "gflow::compiled names the instruction sets itself: leave -mavx… out of the flags of the whole project");

const gflow::kernels::MicroKernels gflow::kernels::compiled::GFLOW_COMPILED_ISA = gflow::kernels::own_micro_kernels;

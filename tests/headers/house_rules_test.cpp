#include "headers/house_rules.hpp"

#include <unistd.h>

#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace gflow::test;
namespace fs = std::filesystem;

namespace {

/// An include folder of its own, gone at the end.
struct Planted {
    fs::path folder = fs::temp_directory_path() / ("gflow_house_rules_" + std::to_string(::getpid()));
    Planted() { fs::create_directories(folder / "gflow"); }
    ~Planted() { fs::remove_all(folder); }
    void file(const std::string& name, const std::string& text) const {
        fs::create_directories((folder / "gflow" / name).parent_path());
        std::ofstream(folder / "gflow" / name) << "#pragma once\n" << text;
    }
    std::vector<std::string> broken() const { return broken_rules(folder); }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("our own headers keep the rules of the house") {
    const auto broken = broken_rules(source_dir() / "include");
    for (const auto& line : broken) UNSCOPED_INFO(line);
    CHECK(broken.empty());
}

TEST_CASE("floors include only those below") {
    for (const char* allowed :
         {"core>config", "kernels>core", "autograd>kernels", "ops>autograd", "nn>ops", "models>nn", "optim>ops",
          "io>core", "text>core", "train>models", "train>io", "geometry>models", "io/checkpoint>nn",
          "io/checkpoint>optim", "io/checkpoint>io", "ops>ops"}) {
        const std::string pair = allowed;
        INFO(pair);
        CHECK(may_include(pair.substr(0, pair.find('>')), pair.substr(pair.find('>') + 1)));
    }
    for (const char* refused :
         {"config>core",  "core>kernels", "kernels>autograd", "kernels>cuda",   "autograd>ops",   "ops>nn",
          "nn>models",    "nn>optim",     "optim>nn",         "io>nn",          "io>text",        "text>ops",
          "text>io",      "models>io",    "models>text",      "train>geometry", "geometry>train", "core>",
          "nowhere>core", "core>nowhere"}) {
        const std::string pair = refused;
        INFO(pair);
        CHECK_FALSE(may_include(pair.substr(0, pair.find('>')), pair.substr(pair.find('>') + 1)));
    }
}

TEST_CASE("a broken rule is reported with file and line") {
    const Planted planted;
    SECTION("nothing broken") {
        planted.file("version.hpp", "#define GFLOW_VERSION_MAJOR 0\n");
        planted.file("config/a.hpp", "#define A 1\n");
        planted.file("config/eigen.hpp", "#include <Eigen/Core>\n");
        planted.file("core/a.hpp", "#include <gflow/version.hpp>\n#define B 2\n#undef B\n");
        planted.file("gflow.hpp", "#include <gflow/core/a.hpp>\n#include <vector>\n");
        CHECK(planted.broken() == Lines{});
    }
    SECTION("an include that climbs") {
        planted.file("core/a.hpp", "#include <vector>\n#  include  <gflow/ops/add.hpp>  // why\n");
        CHECK(planted.broken() == Lines{"gflow/core/a.hpp:3: core must not include gflow/ops/add.hpp"});
    }
    SECTION("an include of the facade") {
        planted.file("nn/a.hpp", "#include <gflow/gflow.hpp>\n");
        CHECK(planted.broken() == Lines{"gflow/nn/a.hpp:2: nn must not include gflow/gflow.hpp"});
    }
    SECTION("checkpoint stands above the rest of io") {
        planted.file("io/checkpoint.hpp", "#include <gflow/nn/module.hpp>\n");
        planted.file("io/npy.hpp", "#include <gflow/io/checkpoint.hpp>\n");
        CHECK(planted.broken() == Lines{"gflow/io/npy.hpp:2: io must not include gflow/io/checkpoint.hpp"});
    }
    SECTION("quotes") {
        planted.file("core/a.hpp", "#include \"b.hpp\"\n");
        CHECK(planted.broken() == Lines{"gflow/core/a.hpp:2: write <gflow/...> instead of \"b.hpp\""});
    }
    SECTION("a second door to Eigen") {
        planted.file("kernels/a.hpp", "#include <Eigen/Dense>\n");
        CHECK(planted.broken() == Lines{"gflow/kernels/a.hpp:2: only config/eigen.hpp includes Eigen"});
    }
    SECTION("a macro that stays") {
        planted.file("core/a.hpp", "#define A(x) x\n#define B\n#undef B\n");
        CHECK(planted.broken() == Lines{"gflow/core/a.hpp:2: macro A outlives its file"});
    }
    SECTION("no #pragma once") {
        std::ofstream(planted.folder / "gflow" / "a.hpp") << "int x;\n";
        CHECK(planted.broken() == Lines{"gflow/a.hpp:1: #pragma once is missing"});
    }
    SECTION("the facade needs more than Eigen") {
        planted.file("gflow.hpp", "#include <gflow/io/a.hpp>\n");
        planted.file("io/a.hpp", "#include <nlohmann/json.hpp>\n");
        CHECK(planted.broken() ==
              Lines{"gflow/io/a.hpp:1: gflow.hpp reaches <nlohmann/json.hpp>, but needs Eigen only"});
    }
}

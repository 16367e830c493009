#pragma once
#include <gflow/core/errors.hpp>

#include <string>

namespace gflow {

/// Where a tensor lives and its ops run.
class Device {
public:
    static Device cpu() { return Device(); }
    /// @throws device_error: this build has no CUDA backend
    [[noreturn]] static Device cuda(int = 0) {
        fail<device_error>("Device::cuda", "no CUDA backend is linked into this program; use Device::cpu()");
    }
    friend bool operator==(Device, Device) = default;

private:
    Device() = default;
};

inline std::string describe(Device) { return "cpu"; }

}  // namespace gflow

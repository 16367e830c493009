#pragma once
#include <gflow/core/buffer_pool.hpp>
#include <gflow/core/index.hpp>

#include <fstream>
#include <string>

namespace gflow {

/// The most memory that this process ever held, in bytes; 0 where the system does not say.
inline Index peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") {
            Index kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    return 0;
}

/// Gives cached memory back and starts the peak again from what is held now, where the system can do that (Linux).
inline void forget_peak_memory() {
    BufferPool::instance().trim();
    std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace gflow

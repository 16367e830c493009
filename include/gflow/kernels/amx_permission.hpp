#pragma once
/// Whether the tile registers of AMX may be used. Free of instruction sets: gflow::compiled asks before it chooses one.

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gflow::kernels {

/// Whether the processor multiplies bfloat16 in tile registers, and the system lends them to this process: Linux does
/// so on request (Documentation/arch/x86/xstate.rst), since a thread that uses them has 8 KiB more state to save.
inline bool may_use_amx() {
#if defined(__x86_64__) && defined(__linux__) && defined(SYS_arch_prctl)
    constexpr unsigned tiles = 1U << 24U, tiles_of_bfloat16 = 1U << 22U;  // CPUID 7.0, EDX
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & tiles) == 0 || (d & tiles_of_bfloat16) == 0) return false;
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

}  // namespace gflow::kernels

#include "isa.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifndef TROPALIGN_ISAS
#include "isa_list.hpp"
#endif

namespace tropalign {
namespace {

// The build generates TROPALIGN_ISAS(X): X(v2, ) X(v3, ) and so on, the most basic first.
const char *const all_isas[] = {
#define X(isa, ...) #isa,
    TROPALIGN_ISAS(X)
#undef X
};

bool processor_has(const std::string &isa) {
    if (isa == "generic") return true;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == "v2") return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("fma");
    if (isa == "v3") return v3;
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (isa == "v4") return v4;
    if (isa == "v4vbmi") return v4 && __builtin_cpu_supports("avx512vbmi");
    return false;
#else
    (void)isa;
    return true;
#endif
}

}  // namespace

std::vector<std::string> supported_isas() {
    std::vector<std::string> names;
    for (const char *isa : all_isas)
        if (processor_has(isa)) names.insert(names.begin(), isa);
    return names;
}

void require_isa() {
    if (!supported_isas().empty()) return;
    std::string compiled;
    for (const char *isa : all_isas) compiled += (compiled.empty() ? "" : ", ") + std::string(isa);
    throw std::runtime_error("tropalign was compiled for instruction sets that this processor lacks (" + compiled +
                             "): install a wheel, or build for all processors with " +
                             "CMAKE_ARGS=-DTROPALIGN_ISAS=all (docs/install.md)");
}

std::string selected_isa() {
    const char *wanted = std::getenv("TROPALIGN_ISA");
    const std::vector<std::string> supported = supported_isas();
    if (supported.empty()) require_isa();
    const std::string name = wanted && *wanted ? wanted : supported.front();
    if (std::find(supported.begin(), supported.end(), name) == supported.end()) {
        std::string known;
        for (const std::string &isa : supported) known += (known.empty() ? "" : ", ") + isa;
        throw std::runtime_error("TROPALIGN_ISA=" + name + " is not an instruction set that this processor has and " +
                                 "tropalign was compiled for: these are " + known + " (docs/install.md: more)");
    }
    return name;
}

bool halves_vectors() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_is("amd") || !__builtin_cpu_supports("avx512f")) return false;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
    constexpr unsigned kZen4Family = 0x19;  // also Zen 3, which has no AVX-512; Zen 5 is 0x1a
    return ((eax >> 8) & 0xf) + ((eax >> 20) & 0xff) == kZen4Family;
#else
    return false;
#endif
}

std::string selected_narrow_isa() {
    const char *wanted = std::getenv("TROPALIGN_ISA");
    if ((wanted && *wanted) || !halves_vectors()) return selected_isa();
    const std::vector<std::string> supported = supported_isas();
    return std::find(supported.begin(), supported.end(), "v3") == supported.end() ? selected_isa() : "v3";
}

}  // namespace tropalign

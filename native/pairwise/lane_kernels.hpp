// The kernels with lanes of one type, as listed in interface.hpp: a unit runs in the narrowest vectors that hold
// its lanes.
#pragma once
#include "unit_run.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Call with_unit(UnitRun of the narrowest vectors that hold `n_lanes` lanes of T). 32 bytes of AVX-512 take less
/// time than 64; 16 bytes take as long as 32 and are used before a traceback, in half of the memory. 32-bit lanes,
/// which few pairs need, have only whole vectors.
template <class T, class Call>
auto with_unit(const Scoring &scoring, int n_lanes, Call call) {
    [[maybe_unused]] const int needed = n_lanes * static_cast<int>(sizeof(T));
    if constexpr (kVectorBytes >= 64 && sizeof(T) < 4)
        if (scoring.traced() && needed <= 16) return call.template operator()<UnitRun<T, 16, true>>();
    if constexpr (kVectorBytes >= 64 && sizeof(T) < 4)
        if (needed <= 32) return call.template operator()<UnitRun<T, 32>>();
    return call.template operator()<UnitRun<T, kVectorBytes>>();
}

template <class T>
void run_unit(const Scoring &scoring, const Unit &unit, UnitScratch &scratch, LaneResult *result) {
    with_unit<T>(scoring, unit.n_lanes, [&]<class Run>() { Run(scoring, unit, scratch, result).run(); });
}

template <class T>
size_t unit_bytes(const Scoring &scoring, const UnitSize &size) {
    return with_unit<T>(scoring, size.n_lanes, [&]<class Run>() { return Run::bytes(scoring, size); });
}

template <class T>
inline constexpr LaneKernels kLaneKernels{8 * sizeof(T), run_unit<T>, unit_bytes<T>};

}  // namespace tropalign::TROPALIGN_ISA

// The kernels with lanes of one type, as interface.hpp lists them: a unit runs in the narrowest vectors that hold its
// lanes.
#pragma once
#include "unit_run.hpp"

namespace tropalign::TROPALIGN_ISA {

/// The bytes of the narrowest vector that holds so many lanes of T.
template <class T>
int vector_bytes_for(int n_lanes) {
    const int needed = n_lanes * static_cast<int>(sizeof(T));
    if (kVectorBytes >= 64 && needed > 32) return 64;
    return kVectorBytes >= 32 && needed > 16 ? 32 : 16;
}

template <class T>
void run_unit(const Scoring &scoring, const Unit &unit, UnitScratch &scratch, LaneResult *result) {
    const int bytes = vector_bytes_for<T>(unit.n_lanes);
    if constexpr (kVectorBytes >= 64)
        if (bytes == 64) return UnitRun<T, 64>(scoring, unit, scratch, result).run();
    if constexpr (kVectorBytes >= 32)
        if (bytes == 32) return UnitRun<T, 32>(scoring, unit, scratch, result).run();
    UnitRun<T, 16>(scoring, unit, scratch, result).run();
}

template <class T>
size_t unit_bytes(const Scoring &scoring, const UnitSize &size) {
    const int bytes = vector_bytes_for<T>(size.n_lanes);
    if constexpr (kVectorBytes >= 64)
        if (bytes == 64) return UnitRun<T, 64>::bytes(scoring, size);
    if constexpr (kVectorBytes >= 32)
        if (bytes == 32) return UnitRun<T, 32>::bytes(scoring, size);
    return UnitRun<T, 16>::bytes(scoring, size);
}

template <class T>
inline constexpr LaneKernels kLaneKernels{8 * sizeof(T), run_unit<T>, unit_bytes<T>};

}  // namespace tropalign::TROPALIGN_ISA

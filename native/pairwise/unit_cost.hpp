// What units cost, as the plan weighs it (cpu_plan.cpp): measured, and to be measured again when the engine changes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tropalign {

/// A unit that would take more is made narrower, down to the fewest lanes.
///
/// One core of a Zen 5 with 1 MB of second-level and 32 MB of third-level cache, alignments of equally long proteins:
///
///     lanes   ns per vector of cells, directions within 8 MB   beyond 32 MB
///      16                        1.65                              1.7
///      32                        1.8                               2.2
///      64                        2.2                               3.6
///
/// A full vector of 64 lanes is best everywhere, so it is memory that this bounds, and the zeroing of fresh pages,
/// which took up to half of the time of a small set. On 300 proteins of 30 to 3,000 residues 64 MB are as fast as
/// gigabytes.
inline constexpr size_t kWideUnitBytes = size_t{64} << 20;

/// Time of a vector of cells whose lanes share two row sequences, in that of one whose lanes share one. Per cell a load
/// and a choice come to some 10 operations of a score (20 with directions), more where there are 16 registers instead
/// of AVX-512's 32; and per group of columns another profile, two operations for each of some 24 letters, spread over
/// the rows. (Scores of 150 proteins of 30 to 3,000 residues: 1.1 with AVX-512, 1.2 and more with AVX2.)
inline double cost_of_two_rows(int64_t rows, bool traced, int vector_bytes) {
    if (traced) return 1.07 + 3.0 / static_cast<double>(rows + 1);
    return (vector_bytes >= 64 ? 1.14 : 1.25) + 6.0 / static_cast<double>(rows + 1);
}

}  // namespace tropalign

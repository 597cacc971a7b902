// Lengths of longest common subsequences, from which the first distances of large families are computed without
// alignments, in a few hundred processor cycles per pair.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// Concatenated sequences.
struct LcsSequences {
    const uint8_t *codes;    // [offsets[n]], below kLcsCodes
    const int64_t *offsets;  // [n + 1]

    int64_t length(int64_t k) const { return offsets[k + 1] - offsets[k]; }
    const uint8_t *of(int64_t k) const { return codes + offsets[k]; }
};

inline constexpr int kLcsCodes = 128;
/// A word holds 63 residues of a sequence; its highest bit is for the carry of an addition.
inline constexpr int kLcsResidues = 63;
/// Maximum number of sequences for all pairs: 2 GB of distances.
inline constexpr int64_t kLcsMostSequences = 32768;

/// Positions of the residues of several sequences, a lane each.
struct LcsLanes {
    const uint64_t *masks;  // [kLcsCodes][n_words][lanes of the instruction set]: bit i of word w: residue 63 w + i
    int n_words;
};

/// The recurrence for one (or two, with letters[1] set) sequences against all lanes.
struct LcsKernels {
    const char *isa;
    int n_lanes;
    /// `state`: room for 2 n_words n_lanes words; lengths[s][lane] is the answer for letters[s].
    void (*lengths)(const LcsLanes &, const uint8_t *const letters[2], const int64_t n_letters[2], uint64_t *state,
                    int32_t *const lengths[2]);
};

const LcsKernels *selected_lcs_kernels();

/// Compute lengths of the longest common subsequences of `rows` with `columns`, out[row][column]. Codes from
/// n_codes on match nothing. If `wanted` is not null, only the elements with nonzero wanted[row][column]; other
/// elements of `out` stay unchanged.
bool lcs_lengths(const LcsSequences &, int n_codes, const std::vector<int32_t> &rows,
                 const std::vector<int32_t> &columns, const uint8_t *wanted, int n_threads, int32_t *out, const Poll &);

/// Distance of two sequences, from the length of their longest common subsequence.
///
/// Unrelated sequences also share a subsequence, whose length grows with both lengths. The excess over it measures
/// their similarity:
///
///     distance = 1 - (length - expected) / (shorter - expected), from 0 to 2 (1: as by chance)
///
/// where expected = share(longer / shorter) * shorter; see LcsChance.
struct LcsChance {
    static constexpr int kBins = 32;
    static constexpr double kBinsPerDoubling = 4;
    float share[kBins];  // by floor(kBinsPerDoubling log2(longer / shorter)), the last one for all larger ratios

    float distance(int32_t lcs, int64_t m, int64_t n) const;
};

/// Compute distances of all pairs in the order (0,1), (0,2) .. (1,2) ..
bool lcs_distances(const LcsSequences &, int64_t n, int n_codes, const LcsChance &, int n_threads, float *out,
                   const Poll &);

}  // namespace tropalign

// Lengths of longest common subsequences, from which large families get their first distances: no alignment, a few
// hundred processor cycles per pair.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// Sequences one after another.
struct LcsSequences {
    const uint8_t *codes;    // [offsets[n]], below kLcsCodes
    const int64_t *offsets;  // [n + 1]

    int64_t length(int64_t k) const { return offsets[k + 1] - offsets[k]; }
    const uint8_t *of(int64_t k) const { return codes + offsets[k]; }
};

inline constexpr int kLcsCodes = 128;
/// A word holds 63 residues of a sequence; its highest bit takes the carry of an addition.
inline constexpr int kLcsResidues = 63;
/// All pairs of that many: 2 GB of distances.
inline constexpr int64_t kLcsMostSequences = 32768;

/// Several sequences side by side, a lane each: where their letters stand.
struct LcsLanes {
    const uint64_t *masks;  // [kLcsCodes][n_words][lanes of the instruction set]: bit i of word w: residue 63 w + i
    int n_words;
};

/// The recurrence for one (or two, with letters[1] set) sequences against all lanes.
struct LcsKernels {
    const char *isa;
    int n_lanes;
    /// `state`: room for 2 n_words n_lanes words; length[s][lane] is the answer for letters[s].
    void (*lengths)(const LcsLanes &, const uint8_t *const letters[2], const int64_t n_letters[2], uint64_t *state,
                    int32_t *const lengths[2]);
};

const LcsKernels *selected_lcs_kernels();

/// Lengths of the longest common subsequences of `rows` with `columns`, out[row][column]. Codes from n_codes on match
/// nothing. With wanted[row][column] those alone that it says; `out` is left as it is elsewhere.
bool lcs_lengths(const LcsSequences &, int n_codes, const std::vector<int32_t> &rows,
                 const std::vector<int32_t> &columns, const uint8_t *wanted, int n_threads, int32_t *out, const Poll &);

/// How far apart two sequences are, from the length of their longest common subsequence.
///
/// Sequences that have nothing to do with each other share a subsequence, too: of a length that grows with both. What
/// is beyond it tells how similar they are:
///
///     distance = 1 - (length - expected) / (shorter - expected), from 0 to 2 (1: what chance does)
///
/// where expected = share(longer / shorter) * shorter; see LcsChance.
struct LcsChance {
    static constexpr int kBins = 32;
    static constexpr double kBinsPerDoubling = 4;
    float share[kBins];  // by floor(kBinsPerDoubling log2(longer / shorter)), and the last one for all beyond

    float distance(int32_t lcs, int64_t m, int64_t n) const;
};

/// Distances of all pairs in the order (0,1), (0,2) .. (1,2) ..
bool lcs_distances(const LcsSequences &, int64_t n, int n_codes, const LcsChance &, int n_threads, float *out,
                   const Poll &);

}  // namespace tropalign

// HMMER's Viterbi filter: the best path of a target through a model, in 16-bit scores.
//
// With xB the score of starting a domain at a residue x, all sums saturating, and ' for the row before,
//
//     M(k) = max(xB + BM(k), M'(k-1) + MM(k), I'(k-1) + IM(k), D'(k-1) + DM(k)) + match(x, k)
//     I(k) = max(M'(k) + MI(k), I'(k) + II(k))
//     D(k) = max(M(k-1) + MD(k-1), D(k-1) + DD(k-1))
//     xE = max over k of M(k),    xC = max(xC', xE - 1 bit),    xB of the next row = max(xC, base) + move
//
// J, from which a target starts another domain, has the scores of C: E loses a bit to both, and neither loses any
// per residue. HMMER omits D -> D in rows where it cannot change the score; here it is never omitted.
#pragma once
#include <cstdint>
#include <span>

#include "search_model.hpp"
#include "targets.hpp"
#include "viterbi_tables.hpp"

namespace tropalign {

/// Write the score of targets[j] to nats[j]: infinity if it exceeds 16 bits, minus infinity for an empty target.
void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// Like viterbi_scores with a given arrangement of lanes; for tests.
void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats);
int n_viterbi_arrangements();

/// Return the score of a target of length L from the highest M of its rows, 32767 if that exceeds 16 bits.
float viterbi_nats(int32_t highest_M, int32_t L);

// The kernels of the Viterbi filter, and the table of them that every instruction set fills.

/// The score xN; the cost of E -> C and E -> J, one bit.
inline constexpr int16_t kViterbiBase = 12'000, kViterbiEnd = 500;

struct ViterbiTarget {
    const uint8_t *codes;
    int32_t length;  ///< 1 or more.
    int16_t move;    ///< word_move of the length.
    int16_t end;     ///< Result: the last xC, or kViterbiHighest if a score exceeded 16 bits.
};

/// Number of targets in parallel, and their lanes. A target that ends makes room for the next one, so the longest
/// should come first.
struct ViterbiArrangement {
    int n_slots;
    int n_stripes;  ///< Per target; 0: a lane per target.
    /// Measured time of a row of all slots in ns; only ratios matter.
    struct Time {
        float row, node;  ///< Per row; per node of a row.
        float far_node;   ///< More per node beyond 1,000, as tables then no longer fit the nearest cache.

        float of(int32_t M) const {
            return row + node * static_cast<float>(M) + far_node * static_cast<float>(M > 1000 ? M - 1000 : 0);
        }
    } time;
    /// One of them is set. `scratch` has viterbi_scratch_bytes and is aligned for vectors.
    void (*sweep_lanes)(const ViterbiLaneTables &tables, std::span<ViterbiTarget> targets, void *scratch);
    void (*sweep_stripes)(const ViterbiStripes &tables, std::span<ViterbiTarget> targets, void *scratch);
};

/// Return the bytes of I and E of every node, plus one vector.
inline size_t viterbi_scratch_bytes(const ViterbiArrangement &how, int32_t M) {
    const int stripes = how.n_stripes ? how.n_stripes : 1;
    const size_t vectors = static_cast<size_t>((M + stripes - 1) / stripes) + 1;
    return vectors * 2 * sizeof(int16_t) * static_cast<size_t>(stripes) * static_cast<size_t>(how.n_slots);
}

struct ViterbiKernels {
    const char *isa;
    ViterbiLookup lookup;
    std::span<const ViterbiArrangement> arrangements;
};

/// Return the table of the chosen instruction set.
const ViterbiKernels *selected_viterbi_kernels();

}  // namespace tropalign

// SSV of many targets, with the choice of the arrangement of lanes.
#pragma once
#include <cstdint>
#include <vector>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// Write the highest V of each target. Fastest for whole groups of the block, whose residues are interleaved
/// there.
void ssv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, uint8_t *highest);

// The kernels of SSV, and the table of them that every instruction set fills.
//
// SSV (HMMER 3.4, p7_SSVFilter) is the best segment of any diagonal of the matrix of residues and nodes. In bytes
// whose lowest number, -128, is the score of a new start:
//
//     V(i, k) = max(-128, V(i - 1, k - 1) - cost(k, residue i)),        result: the largest V of all, as unsigned byte
//
// Differences saturate, so that the maximum costs nothing. V that passes -1 is small as an unsigned byte, but no
// step raises V by more than the model's bias, and so some V of [255 - bias, 255] shows it.

struct SsvKernels;

/// Costs of a node, by code; 127 for non-residues.
struct alignas(32) NodeCosts {
    int8_t of[32];
};
struct alignas(64) StripeCosts {
    int8_t of[64];
};

struct SsvTables {
    const SsvKernels *kernels;  ///< Kernels that the tables are for.
    int32_t M;

    // A lane per target: bands of nodes whose V stay in registers while the rows pass.
    int32_t n_bands, band_nodes;
    std::vector<NodeCosts> nodes;  ///< [n_bands][band_nodes]

    // Striped: lane l of vector t has node l Q + t - (w - 1) (from 0), which is also the node of lane l - 1 of
    // vector t + Q. w vectors of V move over w neighbouring vectors of costs, one further per row, and all lanes
    // move to the next stripe at once every Q rows, when the first vector has come to t = Q.
    //
    //     t         0         w - 1                    Q         Q + w - 2
    //     lane 0    . . . . . | 0   1   2   ...        Q - w + 1 ... Q - 1         w = 5
    //     lane 1    Q - 4 ... | Q  Q+1  Q+2 ...                 ...  2 Q - 1
    //
    // Q is such that the last w - 1 nodes of the last lane do not exist, so that no V is cut off at its end.
    int32_t Q, w;
    std::vector<StripeCosts> stripes;  ///< [kCodes][Q + w - 1] vectors of `vector_bytes`

    const int8_t *stripes_of(uint8_t code) const {
        return stripes.front().of + static_cast<size_t>(code) * stripes_stride;
    }
    size_t stripes_stride;  ///< Bytes per code.
};

struct SsvKernels {
    const char *isa;
    int32_t vector_bytes;
    int32_t most_band_nodes, most_stripes;  ///< The largest band_nodes, and the largest w.
    int32_t most_paired;                    ///< The largest w with which two targets go side by side.
    /// Time of a row, in cycles of a processor of 2024: per node for 64 targets in lanes, and per vector of a
    /// striped one, which is at least least_stripes_cycles.
    float lanes_cycles, stripe_cycles, least_stripes_cycles;
    /// Writes the highest V of each of 64 targets. `border`: 64 bytes per row.
    void (*lanes)(const SsvTables &tables, const TargetGroup &targets, int8_t *border, uint8_t *highest);
    /// Returns the highest V of one target.
    uint8_t (*striped)(const SsvTables &tables, const uint8_t *codes, int32_t L);
    /// Writes the highest V of two targets in parallel: while a V of one waits for the row before, the other is
    /// computed. Cycles per row and target on a Zen 4 with AVX2, in w = 3 to 6 vectors each: 3.0, 3.5, 4.0 and 4.5
    /// for two; 4.0, 4.3, 4.6 and 5.2 for one alone.
    void (*striped_pair)(const SsvTables &tables, const uint8_t *const *codes, const int32_t *L, uint8_t *highest);
};

/// Return the table of the chosen instruction set.
const SsvKernels *selected_ssv_kernels();

}  // namespace tropalign

// The first filter of a search: SSV, and MSV if SSV cannot decide (HMMER 3.4's p7_MSVFilter, which starts with
// p7_SSVFilter). Both find the best ungapped alignment of a model to a target, in bytes; MSV allows several in a
// row.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// Compute scores of targets in nats; infinite if bytes overflow. The SSV score if SSV gives one, else MSV's.
void msv_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// Append the targets whose P-value is at most F1, and their scores. `targets`: by ascending length. Empty targets
/// never pass.
void msv_filter(const SearchModel &model, const TargetBlock &block, Targets targets, double F1,
                std::vector<int32_t> &passed, std::vector<float> &nats);

/// Computes the highest M of each target, as msv_highest does: (targets, enter, highest).
using MsvOfMany = std::function<void(Targets, const uint8_t *, uint8_t *)>;

/// Filter with the highest V of each target computed elsewhere; `msv` computes MSV for those that need it.
void msv_filter_by(const ProfileModel &model, const TargetBlock &block, Targets targets, const uint8_t *V, double F1,
                   const MsvOfMany &msv, std::vector<int32_t> &passed, std::vector<float> &nats);

// The kernels of MSV, and the table of them that every instruction set fills.
//
// MSV (Eddy 2011, doi:10.1371/journal.pcbi.1002195; HMMER 3.4, p7_MSVFilter) joins segments of diagonals: after
// one ends (E), the next starts anywhere (J, B). In unsigned bytes that saturate at 0 and 255, where 0 is minus
// infinity and 190 a score of 0:
//
//     M(i, k) = max(M(i - 1, k - 1), B(i - 1)) + bias - cost(k, residue i)
//     E(i)    = max over k of M(i, k);     J(i) = max(J(i - 1), E(i) - end);     B(i) = max(190, J(i)) - enter
//
// Since J only needs the highest M of all rows so far, that is kept in place of E: `highest`. If it comes within
// the bias of 255, M may have passed 255, and HMMER sets the score to infinity.

inline constexpr int kByteBase = 190;

struct MsvKernels;

/// Biased costs of a node, by code; 255 for non-residues.
struct alignas(32) NodeByteCosts {
    uint8_t of[32];
};
struct alignas(64) ByteCosts {
    uint8_t of[64];
};

struct MsvTables {
    const MsvKernels *kernels;  ///< Kernels that the tables are for.
    int32_t M;
    uint8_t bias, end;
    std::vector<NodeByteCosts> nodes;  ///< [M]

    // Striped: lane l of vector q has node l Q + q (from 0).
    int32_t Q;
    std::vector<ByteCosts> stripes;  ///< [kCodes][Q] vectors of `vector_bytes`
};

struct MsvKernels {
    const char *isa;
    int32_t vector_bytes;
    /// Times as in SsvKernels.
    float lanes_cycles, stripe_cycles, least_stripes_cycles;
    /// Writes the highest M of each of 64 targets; enter[l]: B -> M and J -> B of target l. `state`: 64 bytes per
    /// node.
    void (*lanes)(const MsvTables &tables, const TargetGroup &targets, const uint8_t *enter, uint8_t *state,
                  uint8_t *highest);
    /// Returns the highest M of one target, or one within the bias of 255. `state`: Q vectors.
    uint8_t (*striped)(const MsvTables &tables, const uint8_t *codes, int32_t L, uint8_t enter, uint8_t *state);
};

/// Return the table of the chosen instruction set.
const MsvKernels *selected_msv_kernels();

// MSV of many targets, with the choice of the arrangement of lanes.

/// Write the highest M of each target, or one within the bias of 255. enter[k]: B -> M and J -> B of targets[k],
/// in thirds of a bit. Fastest if neighbours have similar lengths.
void msv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, const uint8_t *enter,
                 uint8_t *highest);

}  // namespace tropalign

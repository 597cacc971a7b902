// Whole targets aligned to a model, as hmmalign does it: one domain, whose place in the target is not known, and the
// path of highest expected accuracy. HMMER 3.4's numbers to the last bit.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../compute/poll.hpp"
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// A model that targets are aligned to.
class AlignmentModel {
  public:
    AlignmentModel(int32_t M, ProfileScores given) : scores(std::move(given)), model(make_odds_model(M, scores)) {}

    const ProfileScores scores;
    const SearchModel model;
};

/// Where residues stand, one after another as in the block:
///
///     k > 0    in node k
///     -k <= 0  inserted behind node k; 0 before the first node, -M behind the last one
///
/// and the posterior of that.
struct ResiduePlaces {
    int32_t *places;
    float *posteriors;
};

/// Aligns these targets, none of them empty. The result tells which ones left the range of floats, as two-domain
/// proteins may: nothing was written for these. False where `poll` stopped it.
bool align_targets(const SearchModel &model, const TargetBlock &block, Targets targets, int n_threads,
                   const ResiduePlaces &out, std::vector<int32_t> &dropped, const Poll &poll);

/// What a thread of align_targets may take for targets of up to L residues is envelope_bytes (envelope.hpp).

/// Aligns these targets with logarithms in place of odds, which no target leaves the range of. It takes kLogBytes per
/// residue and node on each thread, and is HMMER's way for the targets that align_targets drops.
bool align_targets_in_logs(const ProfileScores &scores, const TargetBlock &block, Targets targets, int n_threads,
                           const ResiduePlaces &out, const Poll &poll);
inline constexpr int kLogBytes = 24;

/// Raises widths[k] to the most residues that a sequence has behind node k, of 0 to M; offsets: of the sequences.
void widen_inserts(std::span<const int32_t> places, std::span<const int64_t> offsets, std::span<int32_t> widths);

/// The column of each residue, -1 where `is_trimmed` leaves it out: a column per node, and widths[k] behind node k.
/// Residues before the first node stand right, those behind the last one left; of n others, n / 2 left and the rest
/// right:
///
///     widths 2 0 3   node 1 .. 2     ab A B cde   two nodes A and B, and five columns for inserts
///                                    .b A B c..
void columns_of_places(std::span<const int32_t> places, std::span<const int64_t> offsets,
                       std::span<const int32_t> widths, bool is_trimmed, int32_t *columns);

/// HMMER's checksum of an alignment, by which a model knows the one that it was made of: over codes row after row.
uint32_t alignment_checksum(std::span<const uint8_t> codes);

}  // namespace tropalign

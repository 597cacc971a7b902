// Whole targets aligned to a model, as by hmmalign: one domain at an unknown position in the target, and the path
// of highest expected accuracy. HMMER 3.4's numbers to the last bit.
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

/// Positions of residues in the model, concatenated as in the block:
///
///     k > 0    in node k
///     -k <= 0  inserted after node k; 0 before the first node, -M after the last one
///
/// and the posterior of that position.
struct ResiduePlaces {
    int32_t *places;
    float *posteriors;
};

/// Align non-empty targets. `dropped` receives those that left the range of floats, as two-domain proteins may: nothing
/// was written for these. Returns false if `poll` stopped it.
bool align_targets(const SearchModel &model, const TargetBlock &block, Targets targets, int n_threads,
                   const ResiduePlaces &out, std::vector<int32_t> &dropped, const Poll &poll);

/// A thread of align_targets may take envelope_bytes (envelope.hpp) for targets of up to L residues.

/// Align these targets with logarithms in place of odds, whose range no target exceeds. Takes kLogBytes per
/// residue and node on each thread; this is HMMER's method for the targets that align_targets drops.
bool align_targets_in_logs(const ProfileScores &scores, const TargetBlock &block, Targets targets, int n_threads,
                           const ResiduePlaces &out, const Poll &poll);
inline constexpr int kLogBytes = 24;

/// Raise widths[k] to the largest number of residues that a sequence has after node k, for k from 0 to M; offsets:
/// of the sequences.
void widen_inserts(std::span<const int32_t> places, std::span<const int64_t> offsets, std::span<int32_t> widths);

/// Return the column of each residue, -1 if `is_trimmed` removes it: a column per node, and widths[k] after node
/// k. Residues before the first node are right-aligned, those after the last one left-aligned; of n others, n / 2
/// are on the left and the rest on the right:
///
///     widths 2 0 3   node 1 .. 2     ab A B cde   two nodes A and B, and five columns for inserts
///                                    .b A B c..
void columns_of_places(std::span<const int32_t> places, std::span<const int64_t> offsets,
                       std::span<const int32_t> widths, bool is_trimmed, int32_t *columns);

/// Return HMMER's checksum of an alignment, which identifies the source alignment of a model: over the codes, row after
/// row.
uint32_t alignment_checksum(std::span<const uint8_t> codes);

}  // namespace tropalign

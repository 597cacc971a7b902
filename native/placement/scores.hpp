// Scores of reads against all branches of a reference.
#pragma once
#include "../compute/poll.hpp"
#include "interface.hpp"

namespace tropalign {

/// A read whose distinct residues are numbered by first appearance.
class OwnLetters {
  public:
    /// Throws std::invalid_argument on a code beyond the alphabet.
    OwnLetters(const ReadBatch &, int64_t read);
    ReadLetters letters() const {
        return {letter_.data(), static_cast<int32_t>(letter_.size()), sets_.data(), static_cast<int>(sets_.size())};
    }

  private:
    std::vector<uint8_t> letter_;
    std::vector<uint32_t> sets_;
};

/// Return the bits per lane (8, 16 or 32) that hold every score of `least` or more of a read of that length; 0 if
/// even 32 may not. (A whole read that is longer than the columns has no alignment, and a score far below any
/// other.)
int place_word_bits(const PlaceScoring &, int64_t n_bases, int64_t n_columns, int64_t least = 0);

/// Fill score[n_reads][64 n_groups]. False if `poll` (called with the number of reads started) stopped it.
bool place_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, int n_threads,
                  int word_bits, int32_t *score, const Poll &poll);

// Columns in which the bases of reads are placed: the traceback of chosen reads, each against one branch.

/// Fill out[n_columns - n_empty] with the state set of each column of one vector, and its gap flag above the last
/// state.
void vector_of_lane(const ReferencePlanes &, int64_t vector, uint32_t *out);

/// Find the column of each base (-1: inserted), laid out like the codes, of each read against its vector; and its
/// score. Read k is aligned only with the columns from window[2 k] to window[2 k + 1] (prune.hpp).
void place_paths(const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, const int64_t *vector,
                 const int32_t *window, int n_threads, int32_t *column, int32_t *score);

}  // namespace tropalign

// Scores of reads against all branches of a reference.
#pragma once
#include "../compute/poll.hpp"
#include "interface.hpp"

namespace tropalign {

/// A read whose letters are numbered by first appearance.
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

/// Bits per lane that hold every score of a read of that length: 8, 16 or 32; 0 where even 32 may not. (A whole read
/// longer than the columns has no alignment, and a score far below any other.)
int place_word_bits(const PlaceScoring &, int64_t n_bases, int64_t n_columns);

/// Fills score[n_reads][64 n_groups]. False when `poll` (of reads begun) stopped it.
bool place_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, int n_threads,
                  int word_bits, int32_t *score, const Poll &poll);

}  // namespace tropalign

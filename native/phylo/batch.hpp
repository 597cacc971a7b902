// Reads against the branches of a reference: scores of all, and the way back of chosen ones.
#pragma once
#include <functional>

#include "place.hpp"

namespace tropalign {

struct ReadBatch {
    const uint8_t *codes;     // of all reads
    const int64_t *offsets;   // [n_reads + 1]
    int64_t n_reads;
    const uint32_t *sets;     // what states a code stands for
    int n_codes;
};

/// A read whose letters are numbered by first appearance.
class OwnLetters {
  public:
    /// Throws std::out_of_range on a code beyond the alphabet.
    OwnLetters(const ReadBatch &, int64_t k);
    ReadLetters read() const {
        return {letter_.data(), static_cast<int32_t>(letter_.size()), sets_.data(), static_cast<int>(sets_.size())};
    }

  private:
    std::vector<uint8_t> letter_;
    std::vector<uint32_t> sets_;
};

/// Branch vectors as one bit a lane, 64 in a group (see LanePlanes; made by branch_planes).
struct ReferencePlanes {
    const uint64_t *words;  // [n_groups][n_columns][n_states + 1]
    int64_t n_vectors, n_groups, n_columns;
    int n_states, n_empty;

    const uint64_t *column(int64_t group, int64_t a) const { return words + (group * n_columns + a) * (n_states + 1); }
};

/// Of one vector the state set of every column, and the gap flag above the last state: [n_columns - n_empty].
void vector_of_lane(const ReferencePlanes &, int64_t vector, uint32_t *out);

/// Bits that hold every score of a read of that length: 8, 16 or 32.
int place_word_bits(const PlaceScoring &, int64_t n_bases, int64_t n_columns);

/// score[n_reads][64 n_groups]. `poll(done)` is called now and then; false stops, and so is the answer then.
bool place_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, int n_threads,
                  int word_bits, int32_t *score, const std::function<bool(int64_t)> &poll);

/// The column of every base (-1: inserted), laid out as the codes, of read k against a vector; and the score. Only
/// columns from window[2 k] to window[2 k + 1] are looked at (prune.hpp).
void place_paths(const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, const int64_t *vector,
                 const int32_t *window, int n_threads, int32_t *column, int32_t *score);

}  // namespace tropalign

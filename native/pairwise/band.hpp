// A band of diagonals, and what a path that leaves it can score at the most: the certificate that no such path is
// optimal. docs/exactness.md has the proof.
#pragma once
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// Diagonals j - i of the cells (i, j), i rows and j columns of a pair.
struct Band {
    int32_t low, high;  // low is even, at most 0; the corners (0, 0) and (m, n) lie within
    int64_t beyond;     // no path that leaves the band scores more
};

/// How often a sequence has each letter.
struct LetterCounts {
    int32_t count[kLetters];
    explicit LetterCounts(const Letters &);
};

/// What letters are worth at their best, for all pairs of a scoring.
struct BestLetters {
    int32_t best[kLetters];    // the highest score that the letter has with any other, 0 at the least
    uint8_t letter[kLetters];  // all of them, the best first
    explicit BestLetters(const Scoring &);
};

/// The bounds of one pair in global mode.
class BandBound {
  public:
    BandBound(const Scoring &, const BestLetters &, const LanePair &, const LetterCounts &rows,
              const LetterCounts &columns);

    /// The most that `pairs` paired residues score.
    int64_t most(int64_t pairs) const;

    /// The narrowest band all paths beyond which score less than `score`.
    Band narrowest(int64_t score) const;

    /// That band or a wider one, of whole vectors of `lanes` diagonals, with the bound for what it really covers.
    Band widened(Band, int lanes) const;

  private:
    int64_t above(int64_t diagonal) const;  // of a path that touches this diagonal, above those of both corners
    int64_t below(int64_t diagonal) const;  // the same for -diagonal
    /// The bound of a path that touches a diagonal so far from (0, 0), on the side of the sequence with so many
    /// residues; the last corner is `corner` diagonals away. Free: the gaps that lead there, and back to the corner.
    int64_t beyond(int64_t diagonal, int64_t residues, int64_t corner, bool free_begin, bool free_end) const;

    const Scoring &scoring_;
    const BestLetters &best_;
    const LanePair &pair_;
    const LetterCounts &rows_, &columns_;
};

// The contract between band_trials.cpp and the kernels of an instruction set.

/// One pair within a band of diagonals, global mode, rows the longer sequence.
struct BandKernels {
    int lanes;  // of a vector, each of which covers two diagonals
    bool (*suits)(const Scoring &, const LanePair &);
    size_t (*bytes)(const Scoring &, const LanePair &, const Band &);
    /// False where a path beyond the band may be as good; result.score is then a score that the pair has at the least.
    bool (*run)(const Scoring &, const LanePair &, const Band &, UnitScratch &, LaneResult &result);
};

/// The kernels of the instruction set chosen at import.
const BandKernels *selected_band_kernels();

}  // namespace tropalign

// A band of diagonals, and an upper bound on the score of paths that leave it: the certificate that no such path
// is optimal. docs/exactness.md has the proof.
#pragma once
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// Diagonals j - i of the cells (i, j), for i rows and j columns of a pair.
struct Band {
    int32_t low, high;  // low is even, at most 0; the corners (0, 0) and (m, n) lie within
    int64_t beyond;     // upper bound on the score of a path that leaves the band
};

/// Number of occurrences of each residue in a sequence.
struct LetterCounts {
    int32_t count[kLetters];
    explicit LetterCounts(const Letters &);
};

/// The best score that each residue can have, for all pairs of a scoring.
struct BestLetters {
    int32_t best[kLetters];    // the residue's highest score with any other, at least 0
    uint8_t letter[kLetters];  // all residues, the best first
    explicit BestLetters(const Scoring &);
};

/// Score bounds of one pair in global mode.
class BandBound {
  public:
    BandBound(const Scoring &, const BestLetters &, const LanePair &, const LetterCounts &rows,
              const LetterCounts &columns);

    /// Upper bound on the score of `pairs` paired residues.
    int64_t most(int64_t pairs) const;

    /// The narrowest band such that all paths leaving it score less than `score`.
    Band narrowest(int64_t score) const;

    /// Widen a band to whole vectors of `lanes` diagonals, and set the bound for the diagonals that these cover.
    Band widened(Band, int lanes) const;

  private:
    int64_t above(int64_t diagonal) const;  // bound of a path that touches this diagonal, above both corners
    int64_t below(int64_t diagonal) const;  // bound of a path that touches diagonal -diagonal
    /// Upper bound for a path that touches a diagonal at distance `diagonal` from (0, 0), on the side of the
    /// sequence with `residues` residues; the last corner is `corner` diagonals away. free_begin, free_end: the
    /// gaps that lead there, and back to the corner, cost nothing.
    int64_t beyond(int64_t diagonal, int64_t residues, int64_t corner, bool free_begin, bool free_end) const;

    const Scoring &scoring_;
    const BestLetters &best_;
    const LanePair &pair_;
    const LetterCounts &rows_, &columns_;
};

// The interface between band_trials.cpp and the kernels of an instruction set.

/// One pair within a band of diagonals, global mode; the longer sequence is in the rows.
struct BandKernels {
    int lanes;  // per vector; each lane covers two diagonals
    bool (*suits)(const Scoring &, const LanePair &);
    size_t (*bytes)(const Scoring &, const LanePair &, const Band &);
    /// False if a path beyond the band may be as good; result.score is then a lower bound of the pair's score.
    bool (*run)(const Scoring &, const LanePair &, const Band &, UnitScratch &, LaneResult &result);
};

/// Return the kernels of the instruction set chosen at import.
const BandKernels *selected_band_kernels();

}  // namespace tropalign

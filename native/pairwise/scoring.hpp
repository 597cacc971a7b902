// Scores and gap costs in the forms that the kernels add up.
#pragma once
#include <optional>
#include <string_view>

#include "interface.hpp"

namespace tropalign {

/// A recurrence; global with freed ends is semiglobal. What depends on it is a `switch` over all modes without a
/// default, or asserts which ones it has, in each engine by itself: a new mode compiles in none of them before it is
/// there.
enum class Mode : int { local = 0, global = 1 };
enum class Depth : int { score = 0, ends = 1, alignment = 2 };

/// What a sweep leaves: the score; the end cell, too; the start cells of alignments with a known end, found from that
/// end (starts.hpp); or the walk from the end cell back to the start.
enum class Pass : int { score, end_cells, start_cells, walk };

/// The kernels' mode for one of Python's: local, global, semiglobal. Throws std::invalid_argument for any other.
Mode mode_named(std::string_view name);

/// Scoring of a run. A gap of k residues costs open + k*extend.
struct Scoring {
    Mode mode;
    Depth depth;
    Pass pass;  // what the depth needs in one sweep: the score, or a walk
    int32_t open, extend;
    int32_t lowest, highest;  // scores of the matrix: at most -1, at least 0
    bool is_symmetric;
    int32_t matrix[kLetters * kLetters];  // [row's letter][column's letter], as `step` and `step8`
    // Letters below this code score `match` with themselves and `mismatch` with each other.
    int32_t plain_letters, match, mismatch;
    // What a sweep adds: the matrix (local), or the matrix plus 2*extend (global; a score so low that two gaps
    // are always better is raised to just below that). `step8` where it fits 8 bits.
    int32_t step[kLetters * kLetters];
    alignas(64) int8_t step8[kLetters * kLetters];
    alignas(64) int8_t step8_by_column[kLetters * kLetters];  // [column's letter][row's letter]
    bool step_fits8;
    alignas(64) int8_t
        positive[4 * kLetters];  // bit b % 8 of byte b / 8 * kLetters + a: row's letter a, column's b, score above 0

    Scoring(Mode mode, Depth depth, const int32_t *scores, int32_t open, int32_t extend);
    /// This scoring for another pass.
    Scoring with(Pass other) const {
        Scoring scoring = *this;
        scoring.pass = other;
        return scoring;
    }
    /// This scoring with rows and columns changed about.
    Scoring turned() const;
    /// Whether a walk follows.
    bool traced() const { return pass == Pass::walk; }
};

/// A scoring whose matrix is read [query's letter][target's letter], for pairs that have either of the two along the
/// rows. The scoring given stays where it is.
class OrientedScoring {
  public:
    explicit OrientedScoring(const Scoring &scoring) : straight_(scoring) {
        if (!scoring.is_symmetric) turned_.emplace(scoring.turned());
    }
    const Scoring &operator()(bool query_in_rows) const { return query_in_rows || !turned_ ? straight_ : *turned_; }

  private:
    const Scoring &straight_;
    std::optional<Scoring> turned_;
};

}  // namespace tropalign

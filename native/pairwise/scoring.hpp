// Scores and gap costs in the forms that the kernels add up.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "interface.hpp"

namespace tropalign {

/// A recurrence; global with freed ends is semiglobal. Each engine uses a `switch` over all modes without a
/// default, or asserts which modes it supports: a new mode does not compile in an engine until it is handled.
enum class Mode : int { local = 0, global = 1 };
enum class Depth : int { score = 0, ends = 1, alignment = 2 };

/// Result of a sweep: the score; also the end cell; or also the traceback from the end cell to the start.
enum class Pass : int { score, end_cells, walk };

/// Return the kernels' mode for a mode name of Python: local, global, semiglobal. Throws std::invalid_argument for
/// any other.
Mode mode_named(std::string_view name);

/// A second track: residue `i` of a sequence has another code, codes[i + offset], and its score against another
/// residue's is added to that of the matrix.
struct SecondTrack {
    ptrdiff_t offset = 0;             // 0: no track
    const int32_t *scores = nullptr;  // [query's residue][target's residue], kLetters each
};

/// Scoring of a run. A gap of k residues costs open + k*extend.
struct Scoring {
    Mode mode;
    Depth depth;
    Pass pass;  // result of one sweep; `depth` is that of the whole run
    int32_t open, extend;
    int32_t lowest, highest;  // scores of a pair of residues, of both tracks: at most -1, at least 0
    bool is_symmetric;
    int32_t matrix[kLetters * kLetters];  // [row's residue][column's residue], as are `step` and `step8`
    // Codes below plain_letters score `match` with themselves and `mismatch` with each other.
    int32_t plain_letters, match, mismatch;
    // Terms that a sweep adds: the matrix (local), or the matrix plus 2*extend (global; a score so low that two
    // gaps are always better is raised to just below that). `step8` is valid if they fit 8 bits.
    int32_t step[kLetters * kLetters];
    alignas(64) int8_t step8[kLetters * kLetters];
    alignas(64) int8_t step8_by_column[kLetters * kLetters];  // [column's residue][row's residue]
    bool step_fits8;
    alignas(64) int8_t
        positive[4 * kLetters];  // bit b % 8 of byte b / 8 * kLetters + a: row residue a, column residue b, score > 0
    // With a track, `step` and `step8` are the first addend of a term, these are the second one, and the sum is raised
    // to `never`. `step_fits8` holds for both addends and for their sum, raised.
    ptrdiff_t track = 0;  // 0: none; else SecondTrack::offset
    int32_t never;
    int32_t track_scores[kLetters * kLetters];
    alignas(64) int8_t track8[kLetters * kLetters];
    alignas(64) int8_t track8_by_column[kLetters * kLetters];

    Scoring(Mode mode, Depth depth, const int32_t *scores, int32_t open, int32_t extend, const SecondTrack &track = {});
    void add_track(const int32_t *scores);
    /// Return this scoring for another pass.
    Scoring with(Pass other) const {
        Scoring scoring = *this;
        scoring.pass = other;
        return scoring;
    }
    /// Return this scoring with rows and columns swapped.
    Scoring turned() const;
    /// True if a traceback follows.
    bool traced() const { return pass == Pass::walk; }
    /// Return the score of a pair of residues, given by their places in memory.
    int32_t score_of(const uint8_t *row, const uint8_t *column) const {
        const int32_t score = matrix[*row * kLetters + *column];
        return track ? score + track_scores[row[track] * kLetters + column[track]] : score;
    }
    /// Return the term that a sweep adds for a pair of residues.
    int32_t step_of(const uint8_t *row, const uint8_t *column) const {
        const int32_t term = step[*row * kLetters + *column];
        return track ? std::max(term + track_scores[row[track] * kLetters + column[track]], never) : term;
    }
};

/// A scoring whose matrix is indexed [query's residue][target's residue], for pairs that have either of the two in
/// the rows. Keeps a reference to the given scoring.
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

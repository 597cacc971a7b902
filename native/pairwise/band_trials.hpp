// Which pairs of a tile are tried in a band, and how wide it is; the rest is for the whole matrix.
//
// A guess of how many letters differ (likeness.hpp) gives a score, and the score a band (band.hpp). Where paths outside
// turn out to be as good, the score found, which the pair has at the least, gives a band that holds in any case; if
// that one costs as much as the matrix, the pair is left to it.
#pragma once
#include <vector>

#include "band.hpp"
#include "likeness.hpp"
#include "tile.hpp"

namespace tropalign {

/// Whether pairs of the mode may be aligned within a band.
bool has_bands(Mode mode);

class BandTrials {
  public:
    /// unit_bytes: what the buffers of one pair may take.
    BandTrials(const TileRequest &, const OrientedScoring &, const BandKernels &, size_t unit_bytes);

    /// What the buffers of a pair take at the most.
    size_t most_bytes() const { return most_bytes_; }

    /// Pairs to be tried.
    int64_t count() const { return static_cast<int64_t>(trials_.size()); }
    int64_t pair(int64_t k) const { return trials_[k].pair; }
    bool query_in_rows(int64_t k) const;

    /// Whether waves would find the k-th of them sooner, if they suit it (similar_pair.hpp).
    bool is_close(int64_t k) const { return trials_[k].is_close; }
    bool any_close() const { return any_close_; }

    /// False, and nothing found, where the k-th of them wants the whole matrix.
    bool align(int64_t k, UnitScratch &, LaneResult &) const;

  private:
    struct Trial {
        uint32_t pair;
        int32_t score;  // a guess
        bool is_close;
    };
    /// A pair with what is known of its sequences.
    struct Known {
        LanePair lanes;
        int32_t rows, columns;  // places in counts_ and sketches_
        bool may_suit;          // long enough, and of like lengths
    };

    Known known(int64_t pair) const;
    void look_at_sequences();
    void choose();
    double score_of_others() const;
    BandBound bound(const Known &) const;
    bool pays(const Known &, const Band &, size_t most_bytes) const;

    const TileRequest &request_;
    const OrientedScoring &oriented_;
    const Scoring &scoring_;  // where either way round will do
    const BandKernels &kernels_;
    const BestLetters best_;
    const bool one_set_;
    const size_t unit_bytes_;
    size_t most_bytes_ = 0;
    bool any_close_ = false;
    int word_ = 0;                // letters of a sketch's words
    std::vector<int32_t> place_;  // of each query, then each target, in counts_ and sketches_; -1 of no use
    std::vector<LetterCounts> counts_;
    std::vector<Sketch> sketches_;
    std::vector<Trial> trials_;
};

}  // namespace tropalign

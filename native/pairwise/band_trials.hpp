// Selection of the pairs of a tile that are tried in a band, and the width of the band; the other pairs use the
// whole matrix.
//
// An estimate of the share of differing residues (likeness.hpp) gives a score, and the score gives a band
// (band.hpp). If paths outside turn out to be as good, the score found, a lower bound of the pair's score, gives a
// band that is certain to suffice; if that one costs as much as the matrix, the pair uses the matrix.
#pragma once
#include <vector>

#include "band.hpp"
#include "likeness.hpp"
#include "tile.hpp"

namespace tropalign {

/// True if pairs of the mode may be aligned within a band.
bool has_bands(Mode mode);

class BandTrials {
  public:
    /// unit_bytes: limit for the buffers of one pair.
    BandTrials(const TileRequest &, const OrientedScoring &, const BandKernels &, size_t unit_bytes);

    /// Upper bound on the bytes of the buffers of a pair.
    size_t most_bytes() const { return most_bytes_; }

    /// Number of pairs to try.
    int64_t count() const { return static_cast<int64_t>(trials_.size()); }
    int64_t pair(int64_t k) const { return trials_[k].pair; }
    bool query_in_rows(int64_t k) const;

    /// True if waves would align the k-th pair faster, provided that they suit it (similar_pair.hpp).
    bool is_close(int64_t k) const { return trials_[k].is_close; }
    bool any_close() const { return any_close_; }

    /// Align the k-th pair; false, without a result, if it needs the whole matrix.
    bool align(int64_t k, UnitScratch &, LaneResult &) const;

  private:
    struct Trial {
        uint32_t pair;
        int32_t score;  // an estimate
        bool is_close;
    };
    /// A pair with the known facts about its sequences.
    struct Known {
        LanePair lanes;
        int32_t rows, columns;  // sequence numbers: indices into place_
        bool may_suit;          // long enough, and of similar lengths
    };

    Known known(int64_t pair) const;
    void look_at_sequences();
    void choose();
    double score_of_others() const;
    BandBound bound(const Known &) const;
    bool pays(const Known &, const Band &, size_t most_bytes) const;

    const TileRequest &request_;
    const OrientedScoring &oriented_;
    const Scoring &scoring_;  // for computations in which the orientation does not matter
    const BandKernels &kernels_;
    const BestLetters best_;
    const bool one_set_;
    const size_t unit_bytes_;
    size_t most_bytes_ = 0;
    bool any_close_ = false;
    int word_ = 0;                // length of a sketch's k-mers
    std::vector<int32_t> place_;  // index of each query, then each target, in counts_ and sketches_; -1 if unused
    std::vector<LetterCounts> counts_;
    std::vector<Sketch> sketches_;
    std::vector<Trial> trials_;
};

}  // namespace tropalign

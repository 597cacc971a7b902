// Search for the bounds, and the columns, that a read is likely to fit best: those with which it shares most k-mers.
// The result is a guess, whose scores give a floor for the sweeps of all bounds (prune.hpp).
#pragma once
#include <cstdint>
#include <vector>

#include "interface.hpp"

namespace tropalign {

/// Columns [begin, end) of ReferencePlanes in which a read may fit the branches of a bound.
struct LikelyPlace {
    int64_t bound, begin, end;
};

/// The k-mers of one branch of each bound: residues in columns without the gap flag that have exactly one state.
class LikelyBounds {
  public:
    LikelyBounds() = default;
    explicit LikelyBounds(const ReferencePlanes &);

    /// Find up to `most` places of different bounds, sorted by number of shared k-mers, highest first; empty if no
    /// k-mer is shared. Returns the number of k-mers shared with the first one.
    int32_t find(const ReadLetters &, std::size_t most, std::vector<LikelyPlace> &) const;

  private:
    /// Position of a k-mer's last residue, counted within the residues of the bound.
    struct Ending {
        int32_t bound, residue;
    };

    /// Call see(k-mer, index of its last residue) for each k-mer of n residues; `letter` returns -1 for a residue
    /// that no k-mer contains.
    template <class Letter, class See>
    void each_word(int64_t n, Letter letter, See see) const;

    int n_states_ = 0, length_ = 0;         // length_: k
    std::vector<int64_t> begin_;            // [number of k-mers + 1] start of each k-mer in endings_
    std::vector<Ending> endings_;           // sorted by k-mer
    std::vector<int64_t> residues_before_;  // [n_bounds + 1]
    std::vector<int32_t> column_;           // [residues_before_] column of each residue
};

}  // namespace tropalign

// Which bounds a read is likely to fit best, and where: those with which it shares most words of a few letters. A
// guess, whose scores are a floor that sweeps of all bounds begin with (prune.hpp).
#pragma once
#include <cstdint>
#include <vector>

#include "interface.hpp"

namespace tropalign {

/// Columns [begin, end) of ReferencePlanes in which a read may fit the branches of a bound.
struct LikelyPlace {
    int64_t bound, begin, end;
};

/// The words of one branch of each bound: its residues without gap columns, where a column has one state.
class LikelyBounds {
  public:
    LikelyBounds() = default;
    explicit LikelyBounds(const ReferencePlanes &);

    /// Up to `most` places of different bounds, those that share most words first; none where no word is shared.
    /// Returns the words that the first one shares.
    int32_t find(const ReadLetters &, std::size_t most, std::vector<LikelyPlace> &) const;

  private:
    /// Where a word ends: the residue, counted within the bound's own.
    struct Ending {
        int32_t bound, residue;
    };

    /// Calls see(word, index of its last letter) for each word of n letters, -1 for one that no word has.
    template <class Letter, class See>
    void each_word(int64_t n, Letter letter, See see) const;

    int n_states_ = 0, length_ = 0;         // of a word
    std::vector<int64_t> begin_;            // [words + 1] in endings_
    std::vector<Ending> endings_;           // word by word
    std::vector<int64_t> residues_before_;  // [n_bounds + 1]
    std::vector<int32_t> column_;           // [residues_before_], of each residue
};

}  // namespace tropalign

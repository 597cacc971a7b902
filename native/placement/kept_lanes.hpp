// Selection of lanes from a set of words that have one bit per lane.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "interface.hpp"

namespace tropalign {

/// Moves the bits of a word that a mask selects to its lower end (Hacker's Delight, 7-4, "compress"). The bits
/// that move by 1, 2, 4, ... positions depend on the mask alone, and are computed once.
class BitPacker {
  public:
    explicit BitPacker(uint64_t mask) : mask_(mask) {
        uint64_t zeros = ~mask << 1;  // zeros of the mask to the right of each bit
        for (int k = 0; k < 6; ++k) {
            uint64_t odd = zeros;  // bits with an odd number of such zeros: the exclusive or of all bits to the right
            for (int step = 1; step < 64; step *= 2) odd ^= odd << step;
            moved_[k] = odd & mask;
            mask = (mask ^ moved_[k]) | moved_[k] >> (1 << k);
            zeros &= ~odd;
        }
    }
    uint64_t operator()(uint64_t x) const {
        x &= mask_;
        for (int k = 0; k < 6; ++k) {
            const uint64_t moving = x & moved_[k];
            x = (x ^ moving) | moving >> (1 << k);
        }
        return x;
    }

  private:
    uint64_t mask_, moved_[6];
};

/// Keep the lanes `kept` (ascending) of words [groups][group_words], 64 in a group; the last one fills up the last
/// group.
///
///     group        0          1          2
///     kept      x.xx..xx   ..x..x.x   xx......      lanes of eight here
///     after     abcdefgh   iiiiiiii                 group 1 reads the rest of its source, which is not overwritten yet
inline void keep_lanes(std::vector<uint64_t> &words, int64_t group_words, const std::vector<int64_t> &kept) {
    const auto n_kept = static_cast<int64_t>(kept.size()), n_groups = (n_kept + kPlaceLanes - 1) / kPlaceLanes;
    if (n_kept < kept.back() + 1 || n_kept % kPlaceLanes) {
        for (int64_t group = 0; group < n_groups; ++group) {
            struct Source {
                const uint64_t *words;
                BitPacker pack;
                int up;
            };
            std::vector<Source> sources;
            const int64_t begin = group * kPlaceLanes, end = std::min<int64_t>(begin + kPlaceLanes, n_kept);
            for (int64_t k = begin; k < end;) {
                const int64_t from = kept[k] / kPlaceLanes;
                const auto up = static_cast<int>(k - begin);
                uint64_t mask = 0;
                for (; k < end && kept[k] / kPlaceLanes == from; ++k) mask |= uint64_t{1} << kept[k] % kPlaceLanes;
                sources.push_back({&words[from * group_words], BitPacker(mask), up});
            }
            const auto n_here = static_cast<int>(end - begin);
            const uint64_t beyond = n_here == kPlaceLanes ? 0 : ~uint64_t{0} << n_here;
            for (int64_t k = 0; k < group_words; ++k) {
                uint64_t word = 0;
                for (const Source &source : sources) word |= source.pack(source.words[k]) << source.up;
                words[group * group_words + k] = word >> (n_here - 1) & 1 ? word | beyond : word;
            }
        }
    }
    words.resize(static_cast<size_t>(n_groups * group_words));
}

}  // namespace tropalign

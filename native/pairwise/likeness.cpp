#include "likeness.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tropalign {
namespace {

/// Minimum number of classes in common; fewer may be due to chance.
constexpr int kLeastInCommon = 4;

uint64_t letters_at(const uint8_t *codes) {
    uint64_t letters;
    std::memcpy(&letters, codes, sizeof(letters));
    return letters;
}

uint64_t first_letters(int count) { return count >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * count) - 1; }

}  // namespace

Sketch::Sketch(const Letters &letters, int word) {
    std::fill(std::begin(least), std::end(least), kNone);
    // Sequences have kCodeMargin readable bytes after them. The factors are odd numbers of 64 random bits: the
    // highest bits of the product mix all residues of a k-mer.
    const uint64_t first = first_letters(word), second = first_letters(std::max(word - 8, 0));
    for (int k = 0; k + word <= letters.length; ++k) {
        uint64_t hash = (letters_at(letters.codes + k) & first) * 0x9e3779b97f4a7c15;
        if (second) hash += (letters_at(letters.codes + k + 8) & second) * 0xc2b2ae3d27d4eb4f;
        uint16_t &mine = least[hash >> 57];
        const auto number = static_cast<uint16_t>(hash >> 41);
        mine = std::min(mine, number);
    }
}

int word_for(int64_t length, bool has_few_letters) {
    if (!has_few_letters) return 4;
    return length < 4096 ? 8 : 12;
}

Divergence::Divergence(int word) {
    for (int k = 0; k <= Sketch::kClasses; ++k) {
        const double jaccard = double(k) / Sketch::kClasses;
        by_classes_[k] = k < kLeastInCommon ? 1 : 1 - std::pow(2 * jaccard / (1 + jaccard), 1.0 / word);
    }
}

double Divergence::operator()(const Sketch &a, const Sketch &b) const {
    int same = 0, none = 0;
    for (int k = 0; k < Sketch::kClasses; ++k) {
        same += a.least[k] == b.least[k];
        none += a.least[k] == Sketch::kNone && b.least[k] == Sketch::kNone;
    }
    const int used = std::max(Sketch::kClasses - none, 1);
    return by_classes_[(same - none) * Sketch::kClasses / used];
}

}  // namespace tropalign

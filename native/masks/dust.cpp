#include "dust.hpp"

#include <array>

namespace tropalign {
namespace {

constexpr int kTriplets = 64;

/// Counts of each triplet, and the number of pairs of equal ones.
struct TripletCounts {
    std::array<int32_t, kTriplets> of{};
    int64_t pairs = 0;

    void add(int triplet) { pairs += of[triplet]++; }
    void remove(int triplet) { pairs -= --of[triplet]; }
};

/// A score: pairs over length.
struct DustScore {
    int64_t pairs = 0, length = 1;

    bool reaches(const DustScore &other) const { return pairs * other.length >= other.pairs * length; }
};

/// The triplets in the window that ends with the newest one:
///
///     first          suffix             last
///       |   ...        |    ...          |       each triplet from `suffix` on occurs too rarely there
///
/// for an interval within them to pass the threshold: only intervals that start before `suffix` are examined.
class DustWindow {
  public:
    explicit DustWindow(DustRule rule)
        : level_(rule.level), size_(std::max(rule.window - 2, 1)), triplets_(size_), best_(size_) {}

    void clear() {
        first_ = suffix_ = end_ = 0;
        all_ = within_ = TripletCounts{};
    }

    /// Add the next triplet. Returns the first triplet of the longest perfect interval that ends with it, or -1.
    int64_t take(int triplet) {
        if (end_ - first_ == size_) {
            const int leaving = triplets_[first_ % size_];
            all_.remove(leaving);
            if (suffix_ == first_) {
                within_.remove(leaving);
                ++suffix_;
            }
            ++first_;
        }
        triplets_[end_ % size_] = static_cast<uint8_t>(triplet);
        best_[end_ % size_] = DustScore{};
        ++end_;
        all_.add(triplet);
        within_.add(triplet);
        if (10 * within_.of[triplet] > 2 * level_) {
            int leaving;
            do {
                leaving = triplets_[suffix_++ % size_];
                within_.remove(leaving);
            } while (leaving != triplet);
        }
        return 10 * all_.pairs > level_ * (end_ - suffix_) ? longest() : -1;
    }

  private:
    /// Return the result of take(). best_ of a triplet: the highest score above the threshold of an interval that
    /// starts with it or later.
    int64_t longest() {
        TripletCounts counts = within_;
        int64_t found = -1;
        DustScore highest;
        for (int64_t begin = suffix_ - 1; begin >= first_; --begin) {
            counts.add(triplets_[begin % size_]);
            DustScore &best = best_[begin % size_];
            if (best.reaches(highest)) highest = best;
            const DustScore own{counts.pairs, end_ - 1 - begin};
            if (10 * own.pairs > level_ * own.length && own.reaches(highest)) {
                highest = own;
                found = begin;
            }
            best = highest;
        }
        return found;
    }

    const int64_t level_, size_;
    std::vector<uint8_t> triplets_;
    std::vector<DustScore> best_;
    int64_t first_ = 0, suffix_ = 0, end_ = 0;
    TripletCounts all_, within_;
};

}  // namespace

Intervals dust(const uint8_t *codes, int64_t n, DustRule rule) {
    DustWindow window(rule);
    Intervals found;
    int64_t piece = 0;  // start of this piece of A, C, G, T
    int triplet = 0;
    for (int64_t at = 0; at < n; ++at) {
        if (codes[at] > 3) {
            piece = at + 1;
            window.clear();
            continue;
        }
        triplet = (triplet << 2 | codes[at]) & (kTriplets - 1);
        if (at < piece + 2) continue;
        const int64_t first = window.take(triplet);
        if (first >= 0) unite(found, {piece + first, at + 1});
    }
    return found;
}

}  // namespace tropalign

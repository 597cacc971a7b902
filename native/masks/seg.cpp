#include "seg.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace tropalign {
namespace {

constexpr int kAminoAcids = 20;
/// Maximum number of other codes in a window, and of residues by which a segment is reduced.
constexpr int kMostOthers = 2, kMostTrimmed = 50;
constexpr double kLogAminoAcids = 2.9957322735539909;
/// Entropies are compared as integers, in these fractions of a bit, so that sums do not depend on their order.
constexpr double kBitParts = 1 << 30;

/// Return ln n! in millionths, rounded as in other programs: sums are exact, and tie if those programs' sums tie.
int64_t log_factorial(int64_t n) {
    static const std::vector<int64_t> table = [] {
        std::vector<int64_t> made{0};
        double sum = 0, lost = 0;  // lost: rounding error of the sum, which is never within 1e-11 of a half millionth
        for (int k = 1; k <= 10000; ++k) {
            const double term = std::log(static_cast<double>(k)) - lost, next = sum + term;
            lost = (next - sum) - term;
            sum = next;
            made.push_back(std::llround(1e6 * sum));
        }
        return made;
    }();
    if (n < static_cast<int64_t>(table.size())) return table[n];
    const auto x = static_cast<double>(n);
    return std::llround(1e6 * ((x + 0.5) * std::log(x) - x + 0.9189385332));  // Stirling
}

/// Counts of each amino acid in a part of a sequence, and of other codes.
struct ResidueCounts {
    std::array<int32_t, kAminoAcids> of{};
    int32_t others = 0;
};

/// Levels of windows: low enough to belong to a segment, or to start one.
enum class Level : uint8_t { high, within, trigger };

/// Return the level of each window, by its first residue.
std::vector<Level> levels_of(const uint8_t *codes, int64_t n, SegRule rule) {
    const int w = rule.window;
    std::vector<int64_t> c_log_c(w + 1, 0);
    for (int c = 1; c <= w; ++c) c_log_c[c] = std::llround(kBitParts * c * std::log2(c));
    // H = log2 N - (sum c log2 c) / N is at most h if the sum is at least N (log2 N - h).
    const auto least = [&](int residues, double bits) {
        return std::llround(kBitParts * residues * (std::log2(residues) - bits));
    };
    std::array<int64_t, kMostOthers + 1> least_within, least_trigger;
    for (int others = 0; others <= kMostOthers; ++others) {
        const int residues = std::max(w - others, 1);
        least_within[others] = least(residues, rule.high);
        least_trigger[others] = least(residues, rule.low);
    }
    std::vector<Level> levels(n - w + 1, Level::high);
    ResidueCounts counts;
    int64_t sum = 0;
    for (int64_t at = 0; at < n; ++at) {
        if (codes[at] >= kAminoAcids) ++counts.others;
        else {
            int32_t &c = counts.of[codes[at]];
            sum += c_log_c[c + 1] - c_log_c[c];
            ++c;
        }
        if (at + 1 < w) continue;
        const int64_t begin = at + 1 - w;
        if (counts.others <= kMostOthers && sum >= least_within[counts.others])
            levels[begin] = sum >= least_trigger[counts.others] ? Level::trigger : Level::within;
        if (codes[begin] >= kAminoAcids) --counts.others;
        else {
            int32_t &c = counts.of[codes[begin]];
            sum -= c_log_c[c] - c_log_c[c - 1];
            --c;
        }
    }
    return levels;
}

/// The probability of a part's counts, irrespective of which residue has which count: P0 of Wootton and Federhen,
/// as a logarithm.
class ChanceOfCounts {
  public:
    ChanceOfCounts() { alike_[0] = kAminoAcids; }

    void add(uint8_t code) { change(code, 1); }
    void remove(uint8_t code) { change(code, -1); }

    /// Logarithm in millionths, without the terms common to all parts of a length.
    int64_t log() const { return -log_counts_ - log_alike_; }

    /// Return the whole logarithm. Among equally probable parts, rounding decides which one is the least: sums and
    /// their order are those of segmasker, otherwise segments would differ.
    double rounded_log(int64_t length) const {
        std::array<int32_t, kAminoAcids> counts = counts_;
        std::sort(counts.begin(), counts.end(), std::greater<>());
        double log_ways = decimal(log_factorial(kAminoAcids)), log_orders = decimal(log_factorial(length));
        for (int k = 0; k < kAminoAcids;) {
            int same = 0;
            for (const int32_t count = counts[k]; k < kAminoAcids && counts[k] == count; ++k, ++same)
                log_orders -= decimal(log_factorial(count));
            log_ways -= decimal(log_factorial(same));
        }
        return log_ways + log_orders - static_cast<double>(length) * kLogAminoAcids;
    }

  private:
    static double decimal(int64_t millionths) { return static_cast<double>(millionths) / 1e6; }

    void change(uint8_t code, int by) {
        if (code >= kAminoAcids) return;
        int32_t &count = counts_[code];
        log_counts_ -= log_factorial(count);
        log_alike_ += log_factorial(alike(count) - 1) - log_factorial(alike(count));
        --alike(count);
        count += by;
        log_counts_ += log_factorial(count);
        log_alike_ += log_factorial(alike(count) + 1) - log_factorial(alike(count));
        ++alike(count);
    }
    int32_t &alike(int32_t count) {
        if (count >= static_cast<int32_t>(alike_.size())) alike_.resize(2 * static_cast<size_t>(count) + 1, 0);
        return alike_[count];
    }

    std::array<int32_t, kAminoAcids> counts_{};
    std::vector<int32_t> alike_ = std::vector<int32_t>(64, 0);  ///< number of amino acids with each count
    int64_t log_counts_ = 0, log_alike_ = log_factorial(kAminoAcids);
};

/// Return the least probable part of a segment; at ties the longest, then the first.
Interval reduced(const uint8_t *codes, Interval whole) {
    const int64_t n = whole.end - whole.begin;
    double least = 1;
    Interval found = whole;
    ChanceOfCounts from_start;
    for (int64_t at = whole.begin; at < whole.end; ++at) from_start.add(codes[at]);
    for (int64_t length = n; length > std::max<int64_t>(1, n - kMostTrimmed); --length) {
        ChanceOfCounts part = from_start;
        const double common = 1e-6 * static_cast<double>(log_factorial(kAminoAcids) + log_factorial(length)) -
                              static_cast<double>(length) * kLogAminoAcids;
        for (int64_t begin = whole.begin;; ++begin) {
            if (1e-6 * static_cast<double>(part.log()) + common < least + 1e-9) {
                const double log = part.rounded_log(length);
                if (log < least) {
                    least = log;
                    found = {begin, begin + length};
                }
            }
            if (begin + length == whole.end) break;
            part.remove(codes[begin]);
            part.add(codes[begin + length]);
        }
        from_start.remove(codes[whole.begin + length - 1]);
    }
    return found;
}

/// Add the segments of a part of the sequence that contains their windows.
void add_segments(const uint8_t *codes, const std::vector<Level> &levels, Interval part, int window, Intervals &found) {
    int64_t limit = part.begin;  // no segment extends further back
    const int64_t end = part.end - window + 1;
    for (int64_t at = part.begin; at < end; ++at) {
        if (levels[at] != Level::trigger) continue;
        int64_t first = at, last = at;
        while (first > limit && levels[first - 1] != Level::high) --first;
        while (last + 1 < end && levels[last + 1] != Level::high) ++last;
        const Interval kept = reduced(codes, {first, last + window});
        // The part cut off may hold the window that started the segment.
        if (at + window <= kept.begin) add_segments(codes, levels, {first, kept.begin}, window, found);
        unite(found, kept);  // the previous segment may reach into it
        at = std::min(last, kept.end - 1);
        limit = at + 1;
    }
}

}  // namespace

Intervals seg(const uint8_t *codes, int64_t n, SegRule rule) {
    Intervals found;
    if (n < rule.window) return found;
    add_segments(codes, levels_of(codes, n, rule), {0, n}, rule.window, found);
    return found;
}

}  // namespace tropalign

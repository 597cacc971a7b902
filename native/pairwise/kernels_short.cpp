// One short pair at a time.
#include "short_pair.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// A matrix of H that passes this is swept sooner in other ways (measured: some 850 x 850 residues).
constexpr int64_t kMostBytes = int64_t{3} << 20;

/// Whether H, E and F of the pair are 16-bit numbers: a way through its m + n + 2 cells gains or costs at most so much
/// at each of them.
bool fits16(const Scoring &scoring, const LanePair &pair) {
    const int64_t most = std::max(scoring.highest, -scoring.lowest) + scoring.open + 2 * int64_t{scoring.extend};
    return most * (int64_t{pair.rows.length} + pair.columns.length + 2) <= INT16_MAX;
}

template <class T, bool Local>
bool run(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    if (ShortPair<T, Local>::bytes(pair) > kMostBytes) return false;
    ShortPair<T, Local>(scoring, pair, scratch).run(result);
    return true;
}

}  // namespace

bool run_short(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    const bool is_local = scoring.mode == Mode::local;
    if (fits16(scoring, pair))
        return is_local ? run<int16_t, true>(scoring, pair, scratch, result)
                        : run<int16_t, false>(scoring, pair, scratch, result);
    return is_local ? run<int32_t, true>(scoring, pair, scratch, result)
                    : run<int32_t, false>(scoring, pair, scratch, result);
}

}  // namespace tropalign::TROPALIGN_ISA

// One short pair (short_pair.hpp): H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0]) (Gotoh 1982; sweep.hpp).
#include "short_pair.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Largest matrix of H in bytes; with a larger one, other engines are faster (measured: some 850 x 850 residues).
constexpr int64_t kMostBytes = int64_t{3} << 20;

/// True if H, E and F of the pair fit 16 bits: a path has up to m + n + 2 cells, and gains or loses at most `most` in
/// each.
bool fits16(const Scoring &scoring, const LanePair &pair) {
    const int64_t most = std::max(scoring.highest, -scoring.lowest) + scoring.open + 2 * int64_t{scoring.extend};
    return most * (int64_t{pair.rows.length} + pair.columns.length + 2) <= INT16_MAX;
}

/// True if scores, costs and positions fit 16 bits: local H below the highest 16-bit number are then correct.
bool may_fit16(const Scoring &scoring, const LanePair &pair) {
    const int64_t most = std::max(scoring.highest, -scoring.lowest) + scoring.open + 2 * int64_t{scoring.extend};
    return most <= INT16_MAX && int64_t{pair.rows.length} + pair.columns.length + 2 <= INT16_MAX;
}

template <class T, Mode M>
bool run(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    if (ShortPair<T, M>::bytes(pair) > kMostBytes) return false;
    ShortPair<T, M>(scoring, pair, scratch).run(result);
    return true;
}

template <Mode M>
bool run(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    return fits16(scoring, pair) ? run<int16_t, M>(scoring, pair, scratch, result)
                                 : run<int32_t, M>(scoring, pair, scratch, result);
}

bool run_local(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    const bool is_tried = !fits16(scoring, pair) && may_fit16(scoring, pair);
    if (is_tried && run<int16_t, Mode::local>(scoring, pair, scratch, result) && result.score < INT16_MAX) return true;
    return run<Mode::local>(scoring, pair, scratch, result);
}

}  // namespace

bool run_short(const Scoring &scoring, const LanePair &pair, UnitScratch &scratch, LaneResult &result) {
    switch (scoring.mode) {
        case Mode::local:
            return run_local(scoring, pair, scratch, result);
        case Mode::global:
            return run<Mode::global>(scoring, pair, scratch, result);
    }
    __builtin_unreachable();
}

}  // namespace tropalign::TROPALIGN_ISA

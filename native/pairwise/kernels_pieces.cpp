// One pair at a time with gap costs of two pieces or different costs at the ends (recurrence in piece_pair.hpp; Gotoh
// 1982, 1990), in 16-bit numbers if these suffice.
#include "piece_pair.hpp"
#include "piece_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// True if all values of the pair fit 16 bits. A path has up to m + n + 2 cells, and gains or loses at most highest
/// score + gap in each. A local path gains at pairs only, and no value is further below 0 than the cost of a pair or of
/// a gap of one residue; 16-bit lanes also hold the anti-diagonal numbers.
bool fits16(const PieceScoring &scoring, const LanePair &pair) {
    const Scoring &letters = scoring.letters(true);
    const int64_t lines = int64_t{pair.rows.length} + pair.columns.length + 2;
    const int64_t gap = scoring.costs.most_open() + 2 * scoring.costs.most_extend();
    int64_t most = 0;
    switch (scoring.mode) {
        case Mode::local:
            most = std::max(lines, int64_t{letters.highest} * pair.columns.length - letters.lowest + gap);
            break;
        case Mode::global:
            most = (std::max<int64_t>(letters.highest, -letters.lowest) + gap) * lines;
    }
    return most <= INT16_MAX;
}

/// Call call<PiecePair type that the pair needs>().
template <class Call>
void for_pair(const PieceScoring &scoring, const LanePair &pair, Call call) {
    auto of = [&]<class T, Mode M>() {
        if (scoring.costs.two_pieces()) call.template operator()<PiecePair<T, true, M>>();
        else call.template operator()<PiecePair<T, false, M>>();
    };
    auto in = [&]<Mode M>() {
        if (fits16(scoring, pair)) of.template operator()<int16_t, M>();
        else of.template operator()<int32_t, M>();
    };
    switch (scoring.mode) {
        case Mode::local:
            return in.template operator()<Mode::local>();
        case Mode::global:
            return in.template operator()<Mode::global>();
    }
}

size_t bytes(const PieceScoring &scoring, const LanePair &pair) {
    size_t bytes = 0;
    for_pair(scoring, pair, [&]<class Pair>() { bytes = Pair::bytes(scoring.letters(true), pair); });
    return bytes;
}

void run(const PieceScoring &scoring, bool query_in_rows, const LanePair &pair, const TakenPairs *taken,
         UnitScratch &scratch, LaneResult &result) {
    for_pair(scoring, pair, [&]<class Pair>() {
        Pair(scoring.letters(query_in_rows), scoring.costs, pair, taken, scratch).run(result);
    });
}

}  // namespace

extern const PieceKernels piece_kernels = {bytes, run};

}  // namespace tropalign::TROPALIGN_ISA

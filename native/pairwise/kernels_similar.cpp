// One pair of similar sequences at a time, by wavefronts (recurrence in wavefront.hpp; Marco-Sola et al. 2021).
#include "similar_pair.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Fewest cells: a smaller matrix takes up to 6 us, and finding out that the sequences differ a tenth of that.
constexpr int64_t kFewestCells = 40'000;
/// Maximum number of earlier waves that a wave may depend on; more would take more memory than they are worth.
constexpr int64_t kMostWavesBack = 1024;

bool is_plain(const Scoring &scoring, const Letters &letters) {
    uint8_t highest = 0;
    for (int k = 0; k < letters.length; ++k) highest = std::max(highest, letters.codes[k]);
    return highest < scoring.plain_letters;
}

/// True if waves can compute the score of the pair: only global alignments without free ends.
bool has_waves(Mode mode, const LanePair &pair) {
    switch (mode) {
        case Mode::local:
            return false;
        case Mode::global:
            return !pair.free_rows_begin && !pair.free_rows_end && !pair.free_columns_begin && !pair.free_columns_end;
    }
    __builtin_unreachable();
}

}  // namespace

bool run_similar(const Scoring &scoring, const LanePair &pair, const WaveLimits &limits, UnitScratch &scratch,
                 LaneResult &result) {
    if (scoring.track || !has_waves(scoring.mode, pair)) return false;
    if (int64_t{pair.rows.length} * pair.columns.length < kFewestCells) return false;
    const Penalties penalties(scoring);
    const int64_t back = std::max(penalties.mismatch, penalties.open + std::max(penalties.column, penalties.row));
    if (!penalties.all_cost() || back > kMostWavesBack) return false;
    if (!is_plain(scoring, pair.rows) || !is_plain(scoring, pair.columns)) return false;
    scratch.begin(limits.memory_bytes);
    return SimilarPair(scoring, penalties, pair, limits, scratch).run(result);
}

}  // namespace tropalign::TROPALIGN_ISA

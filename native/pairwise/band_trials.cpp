#include "band_trials.hpp"

#include <algorithm>

#include "../simd/dispatch.hpp"
#include "band.hpp"
#include "cpu_plan.hpp"
#include "ranges.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_NARROW(BandKernels, band_kernels)

namespace {

/// Sweeping the whole matrix of shorter sequences takes less time than starting a band.
constexpr int32_t kLeastResidues = 96;
/// Cost of a cell of a band in quarters of a cell of the matrix, and additional cells per step. The first two costs
/// apply to pairs too few to fill vectors, with directions and without: 1,000 residues in a band of 640 diagonals take
/// 37 us, the matrix 50 to 140. If units are full the matrix costs less: 60 genes of 16S rRNA (1,430 residues, 10 to 20
/// % of them different), GCUPS with AVX2 / AVX-512 on a Zen 4:
///
///     quarters      5            7            9            12           no bands
///     alignments    7.9 / 5.3    9.8 / 7.7    15.1 / 11.0  15.8 / 11.6  16.1 / 11.7
///     scores        11.9 / 6.5   15.0 / 11.7  22.8 / 20.9  24.8 / 22.5
constexpr int64_t kTracedQuarters = 5, kScoreQuarters = 7, kFullQuarters = 12, kStepCells = 48;
/// From this many pairs on, vectors are filled: with AVX2, 36 pairs of such genes are aligned as fast in units as
/// in bands, 21 pairs slower.
constexpr int64_t kFullPairs = 32;
/// Largest memory of a second band, as a multiple of the widest first band.
constexpr size_t kWider = 4;
/// Cost of a differing residue as a multiple of a substitution: some of them are gaps.
constexpr double kLossFactor = 1.25;
/// Fewest cells of all pairs per examined residue: sweeping these takes thirty times as long as examining it, so that
/// the examination costs at most 3 %.
constexpr int64_t kResidueCells = 250;
/// Pairs with a smaller share of differing residues are aligned faster by waves: 1,000 and 10,000 nucleotides at 1
/// % in 5 and 250 us instead of 14 and 280, at 5 % in 60 and 2,800 instead of 19 and 1,070.
constexpr double kCloseShare = 0.02;
/// Largest number of kinds of residues in nucleotide sequences, including N and similar codes.
constexpr int64_t kFewLetters = 6;

int64_t kinds(const LetterCounts &counts) {
    return std::count_if(std::begin(counts.count), std::end(counts.count), [](int32_t n) { return n > 0; });
}

}  // namespace

bool has_bands(Mode mode) {
    switch (mode) {
        case Mode::local:
            return false;  // its best cell may lie anywhere
        case Mode::global:
            return true;
    }
    __builtin_unreachable();
}

BandTrials::BandTrials(const TileRequest &request, const OrientedScoring &oriented, const BandKernels &kernels,
                       size_t unit_bytes)
    : request_(request), oriented_(oriented), scoring_(oriented(true)), kernels_(kernels), best_(scoring_),
      one_set_(request.queries.codes == request.targets.codes), unit_bytes_(unit_bytes) {
    if (!has_bands(scoring_.mode) || !fits(scoring_, 8) || scoring_.track) return;
    look_at_sequences();
    if (!counts_.empty()) choose();
}

BandTrials::Known BandTrials::known(int64_t pair) const {
    const int64_t query = request_.query_index[pair], target = request_.target_index[pair];
    const bool query_in_rows = query_in_rows_alone(request_, pair);
    Known known{lane_pair(request_, pair, query_in_rows), static_cast<int32_t>(query),
                static_cast<int32_t>(target + (one_set_ ? 0 : request_.queries.count)), false};
    if (!query_in_rows) std::swap(known.rows, known.columns);
    known.may_suit = known.lanes.columns.length >= kLeastResidues &&
                     known.lanes.rows.length <= 2 * int64_t{known.lanes.columns.length};
    return known;
}

void BandTrials::look_at_sequences() {
    auto has_long = [](const Sequences &sequences) {
        for (int64_t k = 0; k < sequences.count; ++k)
            if (sequences[k].length >= kLeastResidues) return true;
        return false;
    };
    if (!has_long(request_.queries) || !has_long(request_.targets)) return;
    place_.assign(request_.queries.count + request_.targets.count, -1);
    std::vector<Letters> used;
    int64_t residues = 0, letters = 0, cells = 0;
    for (int64_t k = 0; k < request_.n_pairs; ++k) {
        const Known pair = known(k);
        if (!pair.may_suit) continue;
        cells += int64_t{pair.lanes.rows.length} * pair.lanes.columns.length;
        for (const auto &[number, sequence] :
             {std::pair(pair.rows, pair.lanes.rows), {pair.columns, pair.lanes.columns}}) {
            if (place_[number] >= 0) continue;
            place_[number] = static_cast<int32_t>(used.size());
            used.push_back(sequence);
            residues += sequence.length;
        }
    }
    if (used.empty() || cells < kResidueCells * residues) return;
    counts_.reserve(used.size()), sketches_.reserve(used.size());
    for (const Letters &sequence : used) letters += kinds(counts_.emplace_back(sequence));
    const auto n_used = static_cast<int64_t>(used.size());
    word_ = word_for(residues / n_used, letters <= kFewLetters * n_used);
    for (const Letters &sequence : used) sketches_.emplace_back(sequence, word_);
}

/// Return the mean score of two different residues, weighted by their frequencies in the sequences.
double BandTrials::score_of_others() const {
    double share[kLetters] = {}, sum = 0, all = 0;
    for (const LetterCounts &counts : counts_)
        for (int a = 0; a < kLetters; ++a) share[a] += counts.count[a];
    for (int a = 0; a < kLetters; ++a)
        for (int b = 0; b < kLetters; ++b) {
            if (a == b) continue;
            sum += share[a] * share[b] * scoring_.matrix[a * kLetters + b];
            all += share[a] * share[b];
        }
    return all > 0 ? sum / all : 0;
}

void BandTrials::choose() {
    const Divergence divergence(word_);
    const double other = score_of_others();
    for (int64_t k = 0; k < request_.n_pairs; ++k) {
        const Known pair = known(k);
        if (!pair.may_suit) continue;
        const double differ = divergence(sketches_[place_[pair.rows]], sketches_[place_[pair.columns]]);
        if (differ >= 1) continue;
        // A differing residue scores the mean of two different residues instead of its best score.
        const BandBound bounds = bound(pair);
        const int32_t n = pair.lanes.columns.length;
        const auto best = static_cast<double>(bounds.most(n));
        const auto score = static_cast<int32_t>(best - kLossFactor * differ * (best - n * other));
        const Band guessed = bounds.widened(bounds.narrowest(score), kernels_.lanes);
        if (!pays(pair, guessed, unit_bytes_) || !kernels_.suits(scoring_, pair.lanes)) continue;
        const bool is_close = differ < kCloseShare;
        any_close_ |= is_close;
        trials_.push_back({static_cast<uint32_t>(k), score, is_close});
        most_bytes_ = std::max(most_bytes_, kernels_.bytes(scoring_, pair.lanes, guessed));
    }
    most_bytes_ = std::min(kWider * most_bytes_, unit_bytes_);
}

BandBound BandTrials::bound(const Known &pair) const {
    return {scoring_, best_, pair.lanes, counts_[place_[pair.rows]], counts_[place_[pair.columns]]};
}

/// True if the band is swept faster than the whole matrix; the cells of the band are those of the matrix without two
/// triangles.
bool BandTrials::pays(const Known &pair, const Band &band, size_t most_bytes) const {
    const int64_t m = pair.lanes.rows.length, n = pair.lanes.columns.length;
    const int64_t above = std::max<int64_t>(n - band.high, 0), below = std::max<int64_t>(m + band.low, 0);
    const int64_t cells = m * n - above * above / 2 - below * below / 2 + (m + n) * kStepCells;
    const int64_t few = scoring_.traced() ? kTracedQuarters : kScoreQuarters;
    const int64_t quarters = request_.n_pairs < kFullPairs ? few : kFullQuarters;
    return cells * quarters < 4 * m * n && kernels_.bytes(scoring_, pair.lanes, band) <= most_bytes;
}

bool BandTrials::query_in_rows(int64_t k) const { return query_in_rows_alone(request_, trials_[k].pair); }

bool BandTrials::align(int64_t k, UnitScratch &scratch, LaneResult &result) const {
    const Known pair = known(trials_[k].pair);
    const BandBound bounds = bound(pair);
    const Band guessed = bounds.widened(bounds.narrowest(trials_[k].score), kernels_.lanes);
    const Scoring &scoring = oriented_(query_in_rows(k));
    if (kernels_.run(scoring, pair.lanes, guessed, scratch, result)) return true;
    if (scratch.is_stopped()) return false;
    const Band sure = bounds.widened(bounds.narrowest(result.score), kernels_.lanes);
    return pays(pair, sure, most_bytes_) && kernels_.run(scoring, pair.lanes, sure, scratch, result);
}

}  // namespace tropalign

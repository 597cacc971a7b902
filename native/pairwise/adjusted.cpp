#include "adjusted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <type_traits>

#include "../compute/parallel.hpp"
#include "cpu_plan.hpp"
#include "orientation.hpp"

namespace tropalign {
namespace {

/// Relative tolerance of the sums of rows and columns, and tolerance of the entropy in nats.
constexpr double kExact = 1e-10;
/// Maximum number of iterations for one gamma, and of gammas tried: a few dozen and about ten are usual.
constexpr int kMostTurns = 2000, kMostGammas = 60;
/// Compositions whose matrix needs a larger gamma have too few residues for the requested entropy.
constexpr double kMostGamma = 4;
constexpr int kAminoAcids = 20;

using Shares = double[kLetters];

/// Adjusts matrices for one pair of compositions after another.
class Adjuster {
  public:
    Adjuster(const AverageResidues &residues, const Adjustment &how)
        : residues_(residues), how_(how), n_(static_cast<int>(residues.codes.size())) {
        number_.fill(-1);
        for (int i = 0; i < n_; ++i) number_[residues.codes[i]] = i;
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) values_.push_back(score(i, j));
        std::sort(values_.begin(), values_.end());
        values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j)
                value_[i][j] =
                    static_cast<int>(std::lower_bound(values_.begin(), values_.end(), score(i, j)) - values_.begin());
        factors_.resize(values_.size());
    }

    /// Compute the shares of residues in a sequence, including the pseudocounts.
    void compose(const Letters &letters, Shares &shares) const {
        Shares counts = {};
        double n = how_.pseudocounts;
        for (int32_t k = 0; k < letters.length; ++k)
            if (const int i = number_[letters.codes[k]]; i >= 0) ++counts[i], ++n;
        for (int i = 0; i < n_; ++i) shares[i] = (counts[i] + how_.pseudocounts * residues_.shares[i]) / n;
    }

    /// Write the matrix for two compositions in parts of a unit, [first's residue][second's residue]; false if it does
    /// not exist. Codes that are not residues keep their scores. `turned`: the first sequence is the target.
    bool adjust(const Shares &first, const Shares &second, bool turned, int32_t *matrix) {
        p_ = &first, q_ = &second, turned_ = turned;
        std::fill_n(u_, n_, 1.0), std::fill_n(v_, n_, 1.0);
        double gamma = 1;
        if (!find(gamma)) return false;
        const int64_t most = most_score();
        Shares of_first, of_second;
        for (int i = 0; i < n_; ++i)
            of_first[i] = std::log(u_[i] / first[i]), of_second[i] = std::log(v_[i] / second[i]);
        for (int a = 0; a < kLetters; ++a)
            for (int b = 0; b < kLetters; ++b)
                matrix[a * kLetters + b] =
                    how_.parts * (turned ? how_.matrix[b * kLetters + a] : how_.matrix[a * kLetters + b]);
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) {
                const double nats = gamma * how_.lambda * of(i, j) + of_first[i] + of_second[j];
                const auto parts = static_cast<int64_t>(std::nearbyint(nats / how_.lambda * how_.parts));
                matrix[residues_.codes[i] * kLetters + residues_.codes[j]] =
                    static_cast<int32_t>(std::clamp(parts, -most, most));
            }
        return true;
    }

  private:
    int32_t score(int i, int j) const { return how_.matrix[residues_.codes[i] * kLetters + residues_.codes[j]]; }
    int32_t of(int i, int j) const { return turned_ ? score(j, i) : score(i, j); }

    int64_t most_score() const {
        int64_t highest = 0;
        for (const int32_t value : values_) highest = std::max(highest, std::abs(int64_t{value}));
        return kMostStretch * highest * how_.parts;
    }

    /// Find the gamma that gives the entropy, with u and v; false if there is no such gamma.
    bool find(double &gamma) {
        double low = 0, high = kMostGamma, low_excess = -how_.entropy, high_excess = 0;
        bool has_high = false;
        int side = 0;
        for (int k = 0; k < kMostGammas; ++k) {
            const double excess = entropy(gamma) - how_.entropy;
            if (!std::isfinite(excess)) return false;
            if (std::abs(excess) <= kExact) return true;
            if (excess < 0 && gamma >= kMostGamma) return false;
            // If the same side stays, its excess counts half (the Illinois rule), so that both bounds move.
            if (excess < 0) {
                if (side < 0) high_excess /= 2;
                low = gamma, low_excess = excess, side = -1;
            } else {
                if (side > 0) low_excess /= 2;
                high = gamma, high_excess = excess, has_high = true, side = 1;
            }
            gamma = has_high ? low + (high - low) * (low_excess / (low_excess - high_excess))
                             : std::min(1.5 * gamma, kMostGamma);
        }
        return false;
    }

    /// Compute u and v for this gamma, starting from the last ones; return the entropy.
    double entropy(double gamma) {
        for (size_t k = 0; k < values_.size(); ++k) factors_[k] = std::exp(gamma * how_.lambda * values_[k]);
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j)
                ratio_[i][j] = by_column_[j][i] = factors_[turned_ ? value_[j][i] : value_[i][j]];
        double change = 1;
        for (int turn = 0; turn < kMostTurns && change > kExact; ++turn) change = take_turns();
        Shares of_column;
        for (int j = 0; j < n_; ++j) of_column[j] = std::log(v_[j] / (*q_)[j]);
        double sum = 0;
        for (int i = 0; i < n_; ++i) {
            const double of_row = std::log(u_[i] / (*p_)[i]);
            for (int j = 0; j < n_; ++j)
                sum += u_[i] * ratio_[i][j] * v_[j] * (gamma * how_.lambda * of(i, j) + of_row + of_column[j]);
        }
        return sum;
    }

    /// Update v from u, then u from v; return the largest relative change of an element of u.
    double take_turns() { return n_ == kAminoAcids ? turns(std::integral_constant<int, kAminoAcids>()) : turns(n_); }

    /// Also compiled for the constant number of amino acids, so that the loops vectorise.
    template <class Count>
    double turns(const Count n) {
        // Sums of all columns in parallel, then of all rows, so that no addition waits for the previous one.
        Shares of_columns = {}, of_rows = {};
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) of_columns[j] += u_[i] * ratio_[i][j];
        for (int j = 0; j < n; ++j) v_[j] = (*q_)[j] / of_columns[j];
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) of_rows[i] += by_column_[j][i] * v_[j];
        double change = 0;
        for (int i = 0; i < n; ++i) {
            const double right = (*p_)[i] / of_rows[i];
            change = std::max(change, std::abs(right / u_[i] - 1));
            u_[i] = right;
        }
        return change;
    }

    const AverageResidues &residues_;
    const Adjustment &how_;
    const int n_;
    std::array<int, kLetters> number_;
    std::vector<int32_t> values_;  // the distinct scores
    std::vector<double> factors_;  // exp(gamma lambda value)
    int value_[kLetters][kLetters];
    double ratio_[kLetters][kLetters], by_column_[kLetters][kLetters];
    Shares u_, v_;
    const Shares *p_ = nullptr, *q_ = nullptr;
    bool turned_ = false;
};

/// Working memory of one thread.
struct AdjusterRoom {
    AdjusterRoom(const AverageResidues &residues, const Adjustment &how) : adjuster(residues, how) {}

    Adjuster adjuster;
    UnitScratch scratch;
    Shares shares[2];
    std::vector<int32_t> matrix = std::vector<int32_t>(kLetters * kLetters);
    Buffer<uint32_t> path;
};

}  // namespace

AdjustedScores adjusted_scores(const Kernels &kernels, const AverageResidues &residues, const Adjustment &how,
                               const TileRequest &request, const Poll &poll) {
    AdjustedScores out;
    out.score.resize(request.n_pairs), out.is_adjusted.resize(request.n_pairs);
    std::vector<std::unique_ptr<AdjusterRoom>> rooms;
    for (int t = 0; t < request.n_threads; ++t) rooms.push_back(std::make_unique<AdjusterRoom>(residues, how));
    const int64_t memory_bytes = request.memory_bytes / request.n_threads;
    auto work = [&](int thread, int64_t k) {
        AdjusterRoom &room = *rooms[thread];
        const Letters query = request.queries[request.query_index[k]],
                      target = request.targets[request.target_index[k]];
        const bool query_in_rows = longer_in_rows(query.length, target.length).query_in_rows;
        const LanePair pair = lane_pair(request, k, query_in_rows);
        room.adjuster.compose(pair.rows, room.shares[0]);
        room.adjuster.compose(pair.columns, room.shares[1]);
        out.is_adjusted[k] = room.adjuster.adjust(room.shares[0], room.shares[1], !query_in_rows, room.matrix.data());
        if (!out.is_adjusted[k]) return;
        const Scoring scoring(Mode::local, Depth::score, room.matrix.data(), how.parts * how.open,
                              how.parts * how.extend);
        LaneResult result;
        if (!kernels.run_short(scoring, pair, room.scratch, result))
            kernels.run_long(scoring, pair, 1, memory_bytes, [](int64_t) { return true; }, result, room.path);
        out.score[k] = result.score;
    };
    out.finished = parallel(request.n_threads, request.n_pairs, 1, work, poll);
    return out;
}

AdjustedMatrices adjusted_matrices(const AverageResidues &residues, const Adjustment &how, const TileRequest &request) {
    AdjustedMatrices out;
    out.matrix.resize(request.n_pairs * kLetters * kLetters), out.is_adjusted.resize(request.n_pairs);
    const auto adjuster = std::make_unique<Adjuster>(residues, how);
    Shares query, target;
    for (int64_t k = 0; k < request.n_pairs; ++k) {
        adjuster->compose(request.queries[request.query_index[k]], query);
        adjuster->compose(request.targets[request.target_index[k]], target);
        out.is_adjusted[k] = adjuster->adjust(query, target, false, &out.matrix[k * kLetters * kLetters]);
    }
    return out;
}

}  // namespace tropalign

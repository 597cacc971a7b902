// A traceback through the matrix of Forward: from row L to row 0, choosing one of the possible predecessor states
// at each step. Rows and nodes count from 1.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../compute/buffer.hpp"
#include "../simd/vec.hpp"
#include "float_sums.hpp"
#include "float_tables.hpp"
#include "traces.hpp"

// Choice of one of two or four paths by a random number, as in HMMER.
//
// HMMER divides each path by their sum (a float, with Kahan's correction), adds the quotients up in double and
// compares with random / 2^32. The rounding errors are less than 1e-6 of the sum; so if the same comparison
// without any division is clear by four times as much, its outcome is HMMER's, and else HMMER's operations are
// done.

namespace tropalign {

inline constexpr float kClear = 4e-6f;
/// Smaller sums may have lost parts that are not normal floats.
inline constexpr float kLeastSum = 1e-30f;

/// Return a random number of [0, 1).
inline float share_of(uint32_t random) { return static_cast<float>(static_cast<int64_t>(random)) * 0x1p-32f; }

/// Choose by HMMER's operations. `paths` is overwritten.
[[gnu::noinline, gnu::cold]] inline int exact_choice(float *paths, int n, uint32_t random) {
    const float sum = compensated_sum(paths, n);
    double norm = 0, reached = 0;
    for (int k = 0; k < n; ++k) {
        paths[k] = sum != 0 ? paths[k] / sum : static_cast<float>(1. / static_cast<float>(n));
        norm += paths[k];
    }
    const double roll = random / 4294967296.0;
    for (int k = 0; k < n - 1; ++k) {
        reached += paths[k];
        if (roll < reached / norm) return k;
    }
    return n - 1;
}

/// True if the first path is chosen.
[[gnu::always_inline]] inline bool is_first_of(float first, float second, uint32_t random) {
    const float sum = first + second, at = share_of(random) * sum, clear = sum * kClear;
    if (sum > kLeastSum) [[likely]] {
        if (at < first - clear) return true;
        if (at > first + clear) return false;
    }
    float paths[2] = {first, second};
    return exact_choice(paths, 2, random) == 0;
}

/// Choose one of four paths; the second one is the most likely.
[[gnu::always_inline]] inline int choice_of_four(float first, float second, float third, float fourth,
                                                 uint32_t random) {
    const float two = first + second, three = two + third, sum = three + fourth;
    const float at = share_of(random) * sum, clear = sum * kClear;
    if (sum > kLeastSum) [[likely]] {
        if (at > first + clear && at < two - clear) [[likely]]
            return 1;
        if (at < first - clear) return 0;
        if (at > two + clear && at < three - clear) return 2;
        if (at > three + clear) return 3;
    }
    float paths[4] = {first, second, third, fourth};
    return exact_choice(paths, 4, random);
}

}  // namespace tropalign

namespace tropalign::TROPALIGN_ISA {

/// Choice of the last M or D of a domain in a row, by the contribution of each to E. HMMER adds the cells' shares
/// of E up, quad by quad, four M, then four D. Here sums over blocks of quads are kept per row, so that a draw
/// searches one block only.
class RowEnds {
  public:
    explicit RowEnds(const FullMatrix &matrix, int32_t M)
        : matrix_(matrix), M_(M), n_blocks_((matrix.Q + kBlock - 1) / kBlock),
          sums_(static_cast<size_t>(matrix.L + 1) * n_blocks_), is_summed_(matrix.L + 1) {}

    /// Return the node, negative for its D; 0 if none.
    int32_t draw(int32_t i, uint32_t random) {
        const auto factor = static_cast<float>(1.0 / matrix_.special(i)[kE]);
        const double wanted = random * 0x1p-32 / factor, clear = kClearShare / factor;
        const double *sums = sums_of(i);
        const auto block = static_cast<int32_t>(std::upper_bound(sums, sums + n_blocks_, wanted) - sums);
        if (block == n_blocks_) return exact_draw(i, factor, random);
        double sum = block ? sums[block - 1] : 0;
        const int32_t end = std::min(matrix_.Q, (block + 1) * kBlock);
        for (int32_t q = block * kBlock; q < end; ++q)
            for (int c = 0; c < 2 * kQuad; ++c) {
                const double before = sum;
                sum += cell(i, q, c);
                if (wanted < sum) {
                    if (before + clear < wanted && wanted < sum - clear) return node_of(q, c);
                    return exact_draw(i, factor, random);
                }
            }
        return exact_draw(i, factor, random);
    }

  private:
    static constexpr int32_t kBlock = 4;
    /// HMMER rounds the shares to floats, which changes their sum by less than 1e-7.
    static constexpr double kClearShare = 1e-6;

    /// Return one of a quad's four M and four D.
    float cell(int32_t i, int32_t q, int c) const {
        return matrix_.row(i)[q * matrix_.quad_stride + c / kQuad * matrix_.state_stride + c % kQuad];
    }
    int32_t node_of(int32_t q, int c) const {
        const int32_t k = c % kQuad * matrix_.Q + q + 1;
        return k > M_ ? 0 : c < kQuad ? k : -k;
    }

    const double *sums_of(int32_t i) {
        double *sums = sums_.data() + static_cast<size_t>(i) * n_blocks_;
        if (is_summed_[i]) return sums;
        is_summed_[i] = true;
        using Four = Vec<double, 32>;
        const float *cells = matrix_.row(i);
        double sum = 0;
        for (int32_t block = 0; block < n_blocks_; ++block) {
            Four four{};
            const int32_t end = std::min(matrix_.Q, (block + 1) * kBlock);
            for (int32_t q = block * kBlock; q < end; ++q, cells += matrix_.quad_stride) {
                four += __builtin_convertvector((load<float, 16>(cells)), Four);
                four += __builtin_convertvector((load<float, 16>(cells + matrix_.state_stride)), Four);
            }
            sums[block] = sum += (four[0] + four[1]) + (four[2] + four[3]);
        }
        return sums;
    }

    [[gnu::noinline, gnu::cold]] int32_t exact_draw(int32_t i, float factor, uint32_t random) const {
        const double roll = random * 0x1p-32;
        double sum = 0;
        for (int pass = 0; pass < 2; ++pass)  // twice, as the shares may add up to slightly less than 1
            for (int32_t q = 0; q < matrix_.Q; ++q)
                for (int c = 0; c < 2 * kQuad; ++c)
                    if (roll < (sum += cell(i, q, c) * factor)) return node_of(q, c);
        return 0;
    }

    const FullMatrix &matrix_;
    int32_t M_, n_blocks_;
    Buffer<double> sums_;  // [L + 1][n_blocks_], a row is filled on first use
    std::vector<uint8_t> is_summed_;
};

/// The steps of tracebacks. After domain(), counts()[k] is the number of residues of node k of the domain,
/// including insertions.
class TraceWalk {
  public:
    TraceWalk(const TraceWork &work, TraceRandom &random)
        : matrix_(work.matrix), odds_(work.odds), random_(random), steps_(work.tables.steps.data()),
          ends_(work.matrix, work.tables.M), places_(work.tables.M + 1), counts_(work.tables.M + 1) {
        for (int32_t k = 1; k <= work.tables.M; ++k) places_[k] = matrix_.place(k);
    }

    const float *counts() const { return counts_.data(); }

    /// Return the row of the E from which C in row i comes, 0 if there is no E; similarly for J.
    int32_t end_before_C(int32_t i) { return end_before(i, kC, odds_.end_move); }
    int32_t end_before_J(int32_t i) { return end_before(i, kJ, odds_.end_loop); }

    /// True if B of row i comes from N, rather than J.
    bool is_from_N(int32_t i) {
        const float *special = matrix_.special(i);
        return is_first_of(special[kN] * odds_.move, special[kJ] * odds_.move, random_.next());
    }

    /// Trace from E in row i back to B in row segment.begin; false if no domain can be found.
    bool domain(int32_t i, Segment &segment) {
        int32_t k = ends_.draw(i, random_.next());
        segment.end = i;
        bool is_match = k > 0;
        k = std::abs(k);
        if (!is_match) k = match_before_D(i, k);
        segment.model_end = k;
        int32_t n_inserted = 0;
        while (k > 0 && i > 0) {
            const State before = matches(i, k, n_inserted);
            if (before == kB) return segment.begin = i, segment.model_begin = k, true;
            n_inserted = 0;
            if (before == kI) n_inserted = insertions(i, k);
            else k = match_before_D(i, k);
        }
        return false;
    }

  private:
    enum State { kB, kM, kI, kD };

    int32_t end_before(int32_t i, int which, float odds) {
        const float *special = matrix_.special(i);
        for (; i > 0; --i, special -= kSpecials) {
            // Only E has been divided by the row's factor.
            const float stays = (special - kSpecials)[which] * odds_.loop;
            const float ends = special[kE] * odds * special[kScale];
            if (!is_first_of(stays, ends, random_.next())) break;
        }
        return i;
    }

    /// Trace from M of (i, k) through the matches before it, to the cell before the first one; return the state
    /// that it comes from: B, I or D.
    State matches(int32_t &i, int32_t &k, int32_t n_inserted) {
        counts_[k] = static_cast<float>(1 + n_inserted);
        while (i > 1 && k > 1) {
            // Cells that are adjacent in memory: those within a quarter of the model.
            const int32_t n = std::min(i - 1, (k - 2) % matrix_.Q + 1);
            const Diagonal diagonal{matrix_.row(i - 1) + matrix_.place(k - 1), matrix_.row_stride + matrix_.quad_stride,
                                    matrix_.state_stride, matrix_.special(i - 1) + tropalign::kB, &steps_[k]};
            int choice = kM;
            const int32_t done = follow(diagonal, n, &counts_[k], choice);
            i -= done, k -= done;
            if (choice != kM) return static_cast<State>(choice);
        }
        --i, --k, random_.next();
        return kB;  // there is no other path to row 0 or node 0
    }

    /// Cells (i - 1, k - 1), (i - 2, k - 2) ..., the B of their rows, and the steps into nodes k, k - 1 ...
    struct Diagonal {
        const float *cell;
        int64_t stride;  // from a cell back to the next
        int64_t state_stride;
        const float *begins;
        const TraceTables::Step *steps;
    };

    /// Follow up to n steps from M, until one does not come from M; return their number. counts[0] is node k's.
    [[gnu::noinline]] int32_t follow(const Diagonal &diagonal, int32_t n, float *counts, int &choice) {
        TraceRandom random = random_;
        const float *cell = diagonal.cell, *begins = diagonal.begins;
        const TraceTables::Step *step = diagonal.steps;
        const int64_t stride = diagonal.stride, to_D = diagonal.state_stride;
        int32_t k = 0;
        while (k < n) {
            choice = choice_of_four(*begins * step->BM, *cell * step->MM, cell[2 * to_D] * step->IM,
                                    cell[to_D] * step->DM, random.next());
            ++k;
            if (choice != kM) break;
            *--counts = 1;
            --step, cell -= stride, begins -= kSpecials;
        }
        random_ = random;
        return k;
    }

    /// Trace from I of (i, k) to the M of node k that it comes from; return the number of insertions.
    int32_t insertions(int32_t &i, int32_t k) {
        const TraceTables::Step &step = steps_[k];
        int32_t n = 0;
        bool is_match = false;
        while (!is_match && i > 0) {
            const float *cell = matrix_.row(--i) + places_[k];
            is_match = is_first_of(*cell * step.MI, cell[to_I_] * step.II, random_.next());
            ++n;
        }
        return n;
    }

    /// Return the node of the M from which D of (i, k) comes.
    int32_t match_before_D(int32_t i, int32_t k) {
        const float *row = matrix_.row(i);
        bool is_match = false;
        while (!is_match && k > 1) {
            const TraceTables::Step &step = steps_[k];
            counts_[k--] = 0;
            const float *cell = row + places_[k];
            is_match = is_first_of(*cell * step.MD, cell[to_D_] * step.DD, random_.next());
        }
        return is_match ? k : 0;
    }

    const FullMatrix &matrix_;
    const int32_t to_D_ = matrix_.state_stride, to_I_ = 2 * matrix_.state_stride;
    const ModeOdds odds_;
    TraceRandom &random_;
    const TraceTables::Step *steps_;
    RowEnds ends_;
    std::vector<int32_t> places_;  // index of node k's M in a row
    std::vector<float> counts_;
};

}  // namespace tropalign::TROPALIGN_ISA

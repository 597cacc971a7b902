#include "traces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "denormals.hpp"
#include "float_sums.hpp"

namespace tropalign {
namespace {

enum State { kToB, kToM, kToI, kToD };
/// Floats from a quad's M to its other states, and to the next quad.
constexpr int kM = FullMatrix::kM * 4, kD = FullMatrix::kD * 4, kI = FullMatrix::kI * 4;
constexpr int kCells = FullMatrix::kCells * 4;

/// Which of n paths a random number falls on, in HMMER's rounding: each path divided by the sum of them (with Kahan's
/// correction), then added up in double.
int exact_choice(float *paths, int n, uint32_t random) {
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

class Tracer {
  public:
    Tracer(const TraceTables &tables, const FullMatrix &matrix, const ModeOdds &odds, const uint8_t *codes,
           TraceRandom &random, float *scores)
        : tables_(tables), matrix_(matrix), odds_(odds), codes_(codes), random_(random), scores_(scores),
          counts_(tables.M + 1) {}

    /// Appends the domains of one trace, from right to left; rows count from 1.
    void trace(int32_t number, std::vector<Segment> &segments) {
        int32_t i = matrix_.L, done = i;
        while (i > 0 && two(special(i - 1, kC) * odds_.loop, ended(i, odds_.end_move)) == 0) --i;
        while (i > 0) {
            Segment segment = domain(i);
            if (segment.end < 0) break;
            segment.trace = number;
            add_null2(segment, done);
            done = segment.begin;
            segments.push_back(segment);
            if (two(special(i, kN) * odds_.move, special(i, kJ) * odds_.move) == 0) break;
            while (i > 0 && two(special(i - 1, kJ) * odds_.loop, ended(i, odds_.end_loop)) == 0) --i;
        }
        for (int32_t k = 0; k < done; ++k) scores_[k] += 1.0f;
    }

  private:
    float special(int32_t i, int which) const { return matrix_.special(i)[which]; }
    /// E, which has the row's factor that the other states of the row before lack.
    float ended(int32_t i, float odds) const { return special(i, kE) * odds * special(i, kScale); }

    const float *cell(int32_t i, int32_t k) const {
        const int32_t Q = tables_.Q;
        return matrix_.row(i) + (k - 1) % Q * kCells + (k - 1) / Q;
    }

    int two(float first, float second) {
        std::array<float, 2> paths{first, second};
        return exact_choice(paths.data(), 2, random_.next());
    }

    /// Which M or D a domain ends with, by HMMER's order: quad by quad, four M, then four D.
    bool end_of(int32_t i, int32_t &k, State &state) {
        const double roll = random_.next() / 4294967296.0;
        const auto factor = static_cast<float>(1.0 / special(i, kE));
        double sum = 0;
        for (int pass = 0; pass < 2; ++pass) {  // the sum may stay just below 1
            for (int32_t q = 0; q < tables_.Q; ++q) {
                const float *quad = matrix_.row(i) + q * kCells;
                for (const State which : {kToM, kToD}) {
                    const float *values = quad + (which == kToD ? kD : kM);
                    for (int r = 0; r < 4; ++r) {
                        sum += values[r] * factor;
                        if (roll < sum) return k = r * tables_.Q + q + 1, state = which, k <= tables_.M;
                    }
                }
            }
        }
        return false;
    }

    State before_match(int32_t i, int32_t k) {
        const float *step = tables_.steps.data() + static_cast<size_t>(k) * TraceTables::kStep;
        std::array<float, 4> paths{special(i - 1, kB) * step[0], 0, 0, 0};
        if (k > 1) {
            const float *from = cell(i - 1, k - 1);
            paths[1] = from[kM] * step[1];
            paths[2] = from[kI] * step[2];
            paths[3] = from[kD] * step[3];
        }
        return static_cast<State>(exact_choice(paths.data(), 4, random_.next()));
    }

    State before_insert(int32_t i, int32_t k) {
        const float *step = tables_.steps.data() + static_cast<size_t>(k) * TraceTables::kStep, *from = cell(i - 1, k);
        return two(from[kM] * step[4], from[kI] * step[5]) == 0 ? kToM : kToI;
    }

    State before_delete(int32_t i, int32_t k) {
        const float *step = tables_.steps.data() + static_cast<size_t>(k) * TraceTables::kStep, *from = cell(i, k - 1);
        return two(from[kM] * step[6], from[kD] * step[7]) == 0 ? kToM : kToD;
    }

    /// From E in row i back to B, which i becomes. counts_[k] is how many residues node k has, insertions included.
    Segment domain(int32_t &i) {
        Segment segment;
        segment.end = -1;
        State state = kToM;
        int32_t k = 0;
        if (!end_of(i, k, state)) return segment;
        std::fill(counts_.begin(), counts_.end(), 0.0f);
        while (state != kToB && i > 0 && k > 0) {
            if (state == kToM) {
                if (segment.end < 0) segment.end = i, segment.model_end = k;
                segment.begin = i - 1, segment.model_begin = k - 1;
                counts_[k] += 1.0f;
                state = before_match(i--, k);
                --k;
            } else if (state == kToI) {
                counts_[k] += 1.0f;
                state = before_insert(i--, k);
            } else {
                state = before_delete(i, k);
                --k;
            }
        }
        return segment;
    }

    void add_null2(const Segment &segment, int32_t done) {
        std::array<std::array<float, kResidues>, 4> sums{};
        const auto norm = static_cast<float>(1.0 / static_cast<float>(segment.end - segment.begin));
        for (int32_t k = segment.model_begin + 1; k <= segment.model_end; ++k) {
            const float weight = counts_[k] * norm;
            const float *odds = tables_.odds.data() + static_cast<size_t>(k) * TraceTables::kLetters;
            for (int x = 0; x < kResidues; ++x) sums[(k - 1) / tables_.Q][x] += weight * odds[x];
        }
        std::array<float, kCodes> null2{};
        for (int x = 0; x < kResidues; ++x) null2[x] = (sums[0][x] + sums[1][x]) + (sums[2][x] + sums[3][x]);
        const auto mean = [&](std::initializer_list<int> members) {
            float sum = 0;
            for (const int x : members) sum += null2[x];
            return sum / static_cast<float>(members.size());
        };
        null2[20] = null2[27] = null2[28] = 1;
        null2[21] = mean({2, 11}), null2[22] = mean({7, 9}), null2[23] = mean({3, 13});
        null2[24] = mean({8}), null2[25] = mean({1});
        null2[26] = mean({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
        for (int32_t k = segment.end; k < done; ++k) scores_[k] += 1.0f;
        scores_[segment.begin] += 1.0f;  // HMMER counts the first residue as one outside
        for (int32_t k = segment.begin + 1; k < segment.end; ++k) scores_[k] += null2[codes_[k]];
    }

    const TraceTables &tables_;
    const FullMatrix &matrix_;
    const ModeOdds odds_;
    const uint8_t *codes_;
    TraceRandom &random_;
    float *scores_;
    std::vector<float> counts_;
};

}  // namespace

TraceTables make_trace_tables(const ProfileModel &model) {
    const int32_t M = model.M;
    TraceTables tables{M, std::max(2, (M + 3) / 4), {}, {}};
    tables.steps.resize(static_cast<size_t>(M + 1) * TraceTables::kStep);
    tables.odds.resize(static_cast<size_t>(M + 1) * TraceTables::kLetters);
    const auto odds = [&](Transition t, int32_t k) { return model.transitions[t * (static_cast<size_t>(M) + 1) + k]; };
    for (int32_t k = 1; k <= M; ++k) {
        float *step = tables.steps.data() + static_cast<size_t>(k) * TraceTables::kStep;
        const std::array<float, TraceTables::kStep> values{odds(kBM, k),
                                                           odds(kMM, k),
                                                           odds(kIM, k),
                                                           odds(kDM, k),
                                                           odds(kMI, k),
                                                           odds(kII, k),
                                                           k > 1 ? odds(kMD, k - 1) : 0,
                                                           k > 1 ? odds(kDD, k - 1) : 0};
        std::copy(values.begin(), values.end(), step);
        for (int x = 0; x < kResidues; ++x)
            tables.odds[static_cast<size_t>(k) * TraceTables::kLetters + x] =
                model.match_odds[x * (static_cast<size_t>(M) + 1) + k];
    }
    return tables;
}

const TraceTables &SearchModel::traces() const {
    return traces_.get([&] { return make_trace_tables(plain_); });
}

void trace_region(const SearchModel &model, const TargetBlock &block, const TargetPart &region, int32_t n,
                  TraceRandom &random, std::vector<Segment> &segments, float *scores) {
    const DenormalsAsZero guard;
    const int32_t L = region.end - region.begin;
    const uint8_t *codes = block.codes(region.target) + region.begin;
    const ModeOdds odds = multihit_odds(block.length(region.target));
    FullMatrix matrix;
    forward_matrix(model, codes, L, odds, matrix);
    std::fill(scores, scores + L, 0.0f);
    Tracer tracer(model.traces(), matrix, odds, codes, random, scores);
    for (int32_t t = 0; t < n; ++t) {
        const size_t first = segments.size();
        tracer.trace(t, segments);
        std::reverse(segments.begin() + first, segments.end());
        for (size_t k = first; k < segments.size(); ++k)
            segments[k].begin += region.begin, segments[k].end += region.begin;
    }
    for (int32_t k = 0; k < L; ++k) scores[k] = logf(scores[k] / static_cast<float>(n));
}

}  // namespace tropalign

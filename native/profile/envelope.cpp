#include "envelope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "denormals.hpp"
#include "envelope_lines.hpp"
#include "float_tables.hpp"
#include "full_matrix.hpp"
#include "quads.hpp"

namespace tropalign {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
using Cell = FullMatrix::Cell;
constexpr int kM = FullMatrix::kM, kD = FullMatrix::kD, kI = FullMatrix::kI, kCells = FullMatrix::kCells;

/// What an envelope needs while it is computed; one per thread.
struct Work {
    FullMatrix forward, backward, accuracy;
    std::vector<PathStep> path;
};

Quad *cells_of(FullMatrix &matrix, int32_t i) { return reinterpret_cast<Quad *>(const_cast<float *>(matrix.row(i))); }
float *special_of(FullMatrix &matrix, int32_t i) { return matrix.specials.data() + static_cast<size_t>(i) * kSpecials; }

struct Rescoring {
    const FloatTables &tables;
    const uint8_t *codes;
    int32_t L;
    ModeOdds odds;
    Work &work;
    bool own_scales = false;

    Quad transition(int32_t q, Transition t) const {
        return quad_at(tables.transitions.data() + (q * kDD + t) * kQuad);
    }
    Quad delete_on(int32_t q) const { return quad_at(tables.deletes.data() + q * kQuad); }

    void backward();
    void backward_last_row(Quad *row);
    void backward_row(const Quad *next, Quad *row, const float *odds_of_next, float *special,
                      const float *special_next);
    void more_deletes(Quad way, Quad *row) const;
    void to_deletes(Quad *row) const;
    void scale_row(int32_t i);
    bool decode();
    float accuracy();
    void accuracy_row(int32_t i);
    void null2(std::array<float, kCodes> &out);
    void trace();
    int best_end(int32_t i, int32_t &k) const;
    char step_back_from_match(int32_t i, int32_t k) const;
    char step_back_from_delete(int32_t i, int32_t k) const;
    char step_back_from_insert(int32_t i, int32_t k) const;
    float value(const FullMatrix &matrix, int32_t i, int which, int32_t k) const {
        return matrix.row(i)[((k - 1) % tables.Q * kCells + which) * kQuad + (k - 1) / tables.Q];
    }
    float odds_at(int32_t k, Transition t) const {
        const int32_t q = (k - 1) % tables.Q, r = (k - 1) / tables.Q;
        return t == kDD ? tables.deletes.data()[q * kQuad + r] : tables.transitions.data()[(q * kDD + t) * kQuad + r];
    }
};

void Rescoring::more_deletes(Quad way, Quad *row) const {
    for (int pass = 1; pass < kQuad; ++pass) {
        way = down(way);
        for (int32_t q = tables.Q - 1; q >= 0; --q) way = way * delete_on(q), row[q * kCells + kD] += way;
    }
}

void Rescoring::to_deletes(Quad *row) const {
    Quad next = down(row[kD]);
    for (int32_t q = tables.Q - 1; q >= 0; --q)
        row[q * kCells + kM] = row[q * kCells + kM] + next * transition(q, kMD), next = row[q * kCells + kD];
}

void Rescoring::backward_last_row(Quad *row) {
    const int32_t Q = tables.Q;
    float *special = special_of(work.backward, L);
    std::fill_n(special, kSpecials, 0.0f);
    special[kC] = odds.move, special[kE] = special[kC] * odds.end_move;
    const Quad end = every_float(special[kE]);
    for (int32_t q = 0; q < Q; ++q) row[q * kCells + kM] = row[q * kCells + kD] = end, row[q * kCells + kI] = Quad{};
    Quad next = down(row[(Q - 1) * kCells + kD]), way{};
    for (int32_t q = Q - 1; q >= 0; --q)
        way = next * delete_on(q), row[q * kCells + kD] += way, next = row[q * kCells + kD];
    more_deletes(way, row);
    to_deletes(row);
}

void Rescoring::backward_row(const Quad *after, Quad *row, const float *match, float *special,
                             const float *special_after) {
    const int32_t Q = tables.Q;
    Quad MM = down(transition(0, kMM)), IM = down(transition(0, kIM)), DM = down(transition(0, kDM));
    Quad next_M = down(after[kM] * quad_at(match)), begins{};
    for (int32_t q = Q - 1; q >= 0; --q) {
        const Quad I = after[q * kCells + kI], M = I * transition(q, kMI) + next_M * MM;
        row[q * kCells + kI] = I * transition(q, kII) + next_M * IM;
        row[q * kCells + kD] = next_M * DM;
        next_M = after[q * kCells + kM] * quad_at(match + q * kQuad);
        row[q * kCells + kM] = M;
        DM = transition(q, kDM), IM = transition(q, kIM), MM = transition(q, kMM);
        begins = begins + next_M * transition(q, kBM);
    }
    special[kB] = sum_of(begins);
    special[kC] = special_after[kC] * odds.loop;
    special[kJ] = special[kB] * odds.move + special_after[kJ] * odds.loop;
    special[kN] = special[kB] * odds.move + special_after[kN] * odds.loop;
    special[kE] = special[kC] * odds.end_move + special[kJ] * odds.end_loop;
    const Quad end = every_float(special[kE]);
    Quad next = down(row[kD] + end), way{};
    for (int32_t q = Q - 1; q >= 0; --q) {
        way = next * delete_on(q);
        row[q * kCells + kD] = row[q * kCells + kD] + (way + end);
        next = row[q * kCells + kD];
        row[q * kCells + kM] = row[q * kCells + kM] + end;
    }
    more_deletes(way, row);
    to_deletes(row);
}

void Rescoring::scale_row(int32_t i) {
    float *special = special_of(work.backward, i);
    own_scales |= static_cast<double>(special[kB]) > 1.0e16;
    const float scale = special[kScale] = !own_scales              ? work.forward.special(i)[kScale]
                                          : special[kB] > kHighRow ? special[kB]
                                                                   : 1.0f;
    if (!(scale > 1)) return;
    for (const int s : {kE, kN, kJ, kB, kC}) special[s] /= scale;
    const Quad factor = every_float(static_cast<float>(1.0 / scale));
    Quad *row = cells_of(work.backward, i);
    for (int32_t c = 0; c < tables.Q * kCells; ++c) row[c] *= factor;
}

void Rescoring::backward() {
    FullMatrix &matrix = work.backward;
    matrix.L = L, matrix.Q = tables.Q;
    matrix.cells.resize(work.forward.cells.size());
    matrix.specials.resize(work.forward.specials.size());
    backward_last_row(cells_of(matrix, L));
    scale_row(L);
    for (int32_t i = L - 1; i >= 1; --i) {
        backward_row(cells_of(matrix, i + 1), cells_of(matrix, i), tables.odds_of(codes[i]), special_of(matrix, i),
                     matrix.special(i + 1));
        scale_row(i);
    }
    Quad begins{};
    const float *match = tables.odds_of(codes[0]);
    for (int32_t q = 0; q < tables.Q; ++q)
        begins = begins + cells_of(matrix, 1)[q * kCells + kM] * quad_at(match + q * kQuad) * transition(q, kBM);
    float *special = special_of(matrix, 0);
    std::fill_n(special, kSpecials, 0.0f);
    special[kB] = sum_of(begins), special[kScale] = 1;
    special[kN] = special[kB] * odds.move + matrix.special(1)[kN] * odds.loop;
}

/// Posteriors in place of Backward; false where numbers left the range.
bool Rescoring::decode() {
    auto rest = static_cast<float>(1.0 / work.backward.special(0)[kN]);
    std::fill_n(cells_of(work.backward, 0), tables.Q * kCells, Quad{});
    std::fill_n(special_of(work.backward, 0), kSpecials, 0.0f);
    for (int32_t i = 1; i <= L; ++i) {
        const Quad *f = cells_of(work.forward, i);
        Quad *b = cells_of(work.backward, i);
        const float *special = work.forward.special(i), *before = work.forward.special(i - 1);
        float *out = special_of(work.backward, i);
        const Quad total = every_float(rest * special[kScale]);
        for (int32_t q = 0; q < tables.Q; ++q) {
            b[q * kCells + kM] = f[q * kCells + kM] * b[q * kCells + kM] * total;
            b[q * kCells + kD] = Quad{};
            b[q * kCells + kI] = f[q * kCells + kI] * b[q * kCells + kI] * total;
        }
        for (const int s : {kN, kJ, kC}) out[s] = before[s] * out[s] * odds.loop * rest;
        out[kE] = out[kB] = 0;
        if (own_scales) rest *= special[kScale] / out[kScale];
    }
    return !std::isinf(rest);
}

Quad where(Quad odds, Quad value) {
    for (int r = 0; r < kQuad; ++r)
        if (!(odds[r] > 0)) value[r] = 0;
    return value;
}
// The second where either is no number, as SSE's maximum.
Quad larger(Quad a, Quad b) {
    for (int r = 0; r < kQuad; ++r) a[r] = a[r] > b[r] ? a[r] : b[r];
    return a;
}
Quad up_never(Quad v) { return Quad{kNever, v[0], v[1], v[2]}; }

void Rescoring::accuracy_row(int32_t i) {
    const int32_t Q = tables.Q;
    const Quad *before = cells_of(work.accuracy, i - 1), *p = cells_of(work.backward, i);
    Quad *row = cells_of(work.accuracy, i);
    Quad M = up_never(before[(Q - 1) * kCells + kM]), D = up_never(before[(Q - 1) * kCells + kD]),
         I = up_never(before[(Q - 1) * kCells + kI]);
    const Quad begin = every_float(work.accuracy.special(i - 1)[kB]);
    Quad way = every_float(kNever), ends = way;
    for (int32_t q = 0; q < Q; ++q) {
        Quad best = where(transition(q, kBM), begin);
        best = larger(best, where(transition(q, kMM), M));
        best = larger(best, where(transition(q, kIM), I));
        best = larger(best, where(transition(q, kDM), D));
        best = best + p[q * kCells + kM];
        ends = larger(ends, best);
        M = before[q * kCells + kM], D = before[q * kCells + kD], I = before[q * kCells + kI];
        row[q * kCells + kM] = best, row[q * kCells + kD] = way;
        way = where(transition(q, kMD), best);
        row[q * kCells + kI] = larger(where(transition(q, kMI), M), where(transition(q, kII), I)) + p[q * kCells + kI];
    }
    way = up_never(way);
    for (int32_t q = 0; q < Q; ++q) {
        row[q * kCells + kD] = larger(way, row[q * kCells + kD]);
        way = where(delete_on(q), row[q * kCells + kD]);
    }
    for (int pass = 1; pass < kQuad; ++pass) {
        way = up_never(way);
        for (int32_t q = 0; q < Q; ++q) {
            row[q * kCells + kD] = larger(way, row[q * kCells + kD]);
            way = where(delete_on(q), way);
        }
    }
    for (int32_t q = 0; q < Q; ++q) ends = larger(ends, row[q * kCells + kD]);
    special_of(work.accuracy, i)[kE] = std::max(std::max(ends[0], ends[1]), std::max(ends[2], ends[3]));
}

float Rescoring::accuracy() {
    FullMatrix &matrix = work.accuracy;
    matrix.L = L, matrix.Q = tables.Q;
    matrix.cells.resize(work.forward.cells.size());
    matrix.specials.resize(work.forward.specials.size());
    std::fill_n(cells_of(matrix, 0), tables.Q * kCells, every_float(kNever));
    float *special = special_of(matrix, 0);
    special[kE] = special[kJ] = special[kC] = kNever, special[kN] = special[kB] = 0;
    for (int32_t i = 1; i <= L; ++i) {
        accuracy_row(i);
        const float *before = matrix.special(i - 1), *p = work.backward.special(i);
        special = special_of(matrix, i);
        special[kJ] = std::max(before[kJ] + p[kJ], 0.0f);
        special[kC] = std::max(before[kC] + p[kC], special[kE]);
        special[kN] = before[kN] + p[kN];
        special[kB] = std::max(special[kN], special[kJ]);
    }
    return special[kC];
}

void Rescoring::null2(std::array<float, kCodes> &out) {
    FullMatrix &posteriors = work.backward;
    Quad *sums = cells_of(posteriors, 0);
    float *special = special_of(posteriors, 0);
    std::copy_n(cells_of(posteriors, 1), tables.Q * kCells, sums);
    std::copy_n(posteriors.special(1), kSpecials, special);
    for (int32_t i = 2; i <= L; ++i) {
        const Quad *row = cells_of(posteriors, i);
        for (int32_t c = 0; c < tables.Q * kCells; ++c) sums[c] = row[c] + sums[c];
        for (const int s : {kN, kC, kJ}) special[s] += posteriors.special(i)[s];
    }
    const auto share = static_cast<float>(1.0 / static_cast<float>(L));
    for (int32_t c = 0; c < tables.Q * kCells; ++c) sums[c] *= share;
    for (const int s : {kN, kC, kJ}) special[s] *= share;
    const float outside = special[kN] + special[kC] + special[kJ];
    for (int x = 0; x < kResidues; ++x) {
        Quad sum{};
        for (int32_t q = 0; q < tables.Q; ++q) {
            sum = sum + sums[q * kCells + kM] * quad_at(tables.odds_of(x) + q * kQuad);
            sum = sum + sums[q * kCells + kI];
        }
        out[x] = sum_of(sum) + outside;
    }
    finish_null2(out);
}

// From which state the best path comes, the first of equal ones; a transition that is impossible is no choice.
char Rescoring::step_back_from_match(int32_t i, int32_t k) const {
    const FullMatrix &a = work.accuracy;
    const auto choice = [&](Transition t, float x) { return odds_at(k, t) == 0 ? kNever : x; };
    const auto before = [&](int which) { return k > 1 ? value(a, i - 1, which, k - 1) : 0.0f; };
    const float paths[4] = {choice(kMM, before(kM)), choice(kIM, before(kI)), choice(kDM, before(kD)),
                            choice(kBM, a.special(i - 1)[kB])};
    return "MIDB"[std::max_element(paths, paths + 4) - paths];
}

char Rescoring::step_back_from_delete(int32_t i, int32_t k) const {
    const float M = odds_at(k - 1, kMD) == 0 ? kNever : value(work.accuracy, i, kM, k - 1);
    const float D = odds_at(k - 1, kDD) == 0 ? kNever : value(work.accuracy, i, kD, k - 1);
    return M >= D ? 'M' : 'D';
}

char Rescoring::step_back_from_insert(int32_t i, int32_t k) const {
    const float M = odds_at(k, kMI) == 0 ? kNever : value(work.accuracy, i - 1, kM, k);
    const float I = odds_at(k, kII) == 0 ? kNever : value(work.accuracy, i - 1, kI, k);
    return M >= I ? 'M' : 'I';
}

int Rescoring::best_end(int32_t i, int32_t &k) const {
    float best = kNever;
    int which = kM;
    const Quad *row = reinterpret_cast<const Quad *>(work.accuracy.row(i));
    for (int32_t q = 0; q < tables.Q; ++q) {
        for (int r = 0; r < kQuad; ++r)
            if (row[q * kCells + kM][r] >= best) best = row[q * kCells + kM][r], which = kM, k = r * tables.Q + q + 1;
        for (int r = 0; r < kQuad; ++r)
            if (row[q * kCells + kD][r] > best) best = row[q * kCells + kD][r], which = kD, k = r * tables.Q + q + 1;
    }
    return which;
}

void Rescoring::trace() {
    const FullMatrix &a = work.accuracy, &p = work.backward;
    work.path.clear();
    int32_t i = L, k = 0;
    char state = 'C';
    while (state != 'S') {
        char next = 0;
        switch (state) {
            case 'M':
                next = step_back_from_match(i, k), --k, --i;
                break;
            case 'D':
                next = step_back_from_delete(i, k), --k;
                break;
            case 'I':
                next = step_back_from_insert(i, k), --i;
                break;
            case 'N':
                next = i == 0 ? 'S' : 'N';
                break;
            case 'C':
                next = a.special(i - 1)[kC] + p.special(i)[kC] > a.special(i)[kE] ? 'C' : 'E';
                break;
            case 'J':
                next = a.special(i - 1)[kJ] + p.special(i)[kJ] > kNever ? 'J' : 'E';
                break;
            case 'E':
                next = best_end(i, k) == kM ? 'M' : 'D';
                break;
            case 'B':
                next = a.special(i)[kN] > a.special(i)[kJ] ? 'N' : 'J';
                break;
        }
        if (next == 'M' || next == 'I' || next == 'D') {
            const float posterior = next == 'D' ? 0 : value(p, i, next == 'M' ? kM : kI, k);
            work.path.push_back({next, i, k, posterior});
        } else if (next == 'B') {
            work.path.push_back({next, i, 0, 0});
        }
        if ((next == 'N' || next == 'J' || next == 'C') && next == state) --i;
        state = next;
    }
}

void rescore(const SearchModel &model, const TargetBlock &block, const Envelope &envelope, Work &work,
             EnvelopeResult &out) {
    const int32_t L = envelope.end - envelope.begin;
    const uint8_t *codes = block.codes(envelope.target) + envelope.begin;
    const ModeOdds odds = unihit_odds(block.length(envelope.target));
    forward_matrix(model, codes, L, odds, work.forward);
    Rescoring rescoring{model.floats(), codes, L, odds, work};
    rescoring.backward();
    out = {};
    out.hit.envelope_begin = envelope.begin, out.hit.envelope_end = envelope.end;
    out.hit.envelope_nats = work.forward.nats;
    out.is_dropped = !rescoring.decode();
    if (out.is_dropped) return;
    out.hit.expected_accuracy = rescoring.accuracy();
    rescoring.trace();
    write_lines(model.plain(), codes, work.path, envelope.begin, out.hit);
    if (!envelope.with_null2) return;
    rescoring.null2(out.null2);
    for (int32_t i = 0; i < L; ++i) out.hit.correction_nats += out.null2[codes[i]];
}

}  // namespace

void rescore_envelopes(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
                       EnvelopeResult *out) {
    const DenormalsAsZero guard;
    thread_local Work work;
    for (size_t k = 0; k < envelopes.size(); ++k) rescore(model, block, envelopes[k], work, out[k]);
}

}  // namespace tropalign

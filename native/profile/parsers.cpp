#include "parsers.hpp"

#include <cmath>
#include <limits>

#include "../simd/vec.hpp"
#include "denormals.hpp"
#include "float_tables.hpp"

namespace tropalign {
namespace {

using V = generic::Vec<float, 16>;
constexpr float kHighRow = 1.0e4f;

V at(const float *p) { return *reinterpret_cast<const V *>(p); }

/// Each float one place further, a zero in the first.
V up(V v) { return V{0, v[0], v[1], v[2]}; }
/// Each float one place back, a zero in the last.
V down(V v) { return V{v[1], v[2], v[3], 0}; }

float sum_of(V v) {
    v = v + V{v[1], v[2], v[3], v[0]};
    v = v + V{v[2], v[3], v[0], v[1]};
    return v[0];
}

bool any_above(V a, V b) {
    const auto above = a > b;
    return above[0] | above[1] | above[2] | above[3];
}

struct Cells {
    V M, D, I;
};

/// A row of the matrix, and the special states of one target.
struct Sweep {
    const FloatTables &tables;
    LengthOdds odds;
    std::vector<Cells> row = std::vector<Cells>(tables.Q);
    float N = 0, B = 0, J = 0, C = 0, E = 0, total = 0;

    V transition(int32_t q, Transition t) const { return at(tables.transitions.data() + (q * kDD + t) * kQuad); }
    V delete_on(int32_t q) const { return at(tables.deletes.data() + q * kQuad); }

    void write(float *specials, float scale) const {
        specials[kE] = E, specials[kN] = N, specials[kJ] = J, specials[kB] = B, specials[kC] = C;
        specials[kScale] = scale;
    }

    void scale_down(float by) {
        N /= by, C /= by, J /= by, B /= by;
        const V factor = V{} + static_cast<float>(1.0 / by);
        for (Cells &cells : row) cells.M *= factor, cells.D *= factor, cells.I *= factor;
        total = static_cast<float>(total + std::log(static_cast<double>(by)));
    }
};

struct Forward : Sweep {
    void next_row(uint8_t code) {
        const int32_t Q = tables.Q;
        const float *match = tables.odds_of(code);
        V before_M = up(row[Q - 1].M), before_D = up(row[Q - 1].D), before_I = up(row[Q - 1].I);
        V to_delete{}, ends{};
        for (int32_t q = 0; q < Q; ++q) {
            V sum = (V{} + B) * transition(q, kBM);
            sum += before_M * transition(q, kMM);
            sum += before_I * transition(q, kIM);
            sum += before_D * transition(q, kDM);
            sum *= at(match + q * kQuad);
            ends += sum;
            before_M = row[q].M, before_D = row[q].D, before_I = row[q].I;
            row[q].M = sum, row[q].D = to_delete;
            to_delete = sum * transition(q, kMD);
            row[q].I = before_M * transition(q, kMI) + before_I * transition(q, kII);
        }
        deletes(to_delete);
        for (int32_t q = 0; q < Q; ++q) ends = row[q].D + ends;
        E = sum_of(ends);
    }

    void deletes(V way) {
        const int32_t Q = tables.Q;
        way = up(way), row[0].D = V{};
        for (int32_t q = 0; q < Q; ++q) row[q].D = way + row[q].D, way = row[q].D * delete_on(q);
        for (int pass = 1; pass < kQuad; ++pass) {
            way = up(way);
            bool changed = tables.M < 100;
            for (int32_t q = 0; q < Q; ++q) {
                const V sum = way + row[q].D;
                changed |= any_above(sum, row[q].D);
                row[q].D = sum, way = way * delete_on(q);
            }
            if (!changed) break;
        }
    }

    void specials(float *out) {
        N = N * odds.loop;
        C = C * odds.loop + E * odds.kEndMove;
        J = J * odds.loop + E * odds.kEndLoop;
        B = J * odds.move + N * odds.move;
        float scale = 1;
        if (E > kHighRow) scale = E, scale_down(E), E = 1;
        if (out) write(out, scale);
    }

    float run(const uint8_t *codes, int32_t L, float *out) {
        N = 1, B = odds.move;
        if (out) write(out, 1);
        for (int32_t i = 1; i <= L; ++i) next_row(codes[i - 1]), specials(out ? out + i * kSpecials : nullptr);
        return static_cast<float>(total + std::log(static_cast<double>(C * odds.move)));
    }
};

struct Backward : Sweep {
    /// D -> D in the three passes after the first one.
    void more_deletes(V way) {
        for (int pass = 1; pass < kQuad; ++pass) {
            way = down(way);
            for (int32_t q = tables.Q - 1; q >= 0; --q) way = way * delete_on(q), row[q].D = row[q].D + way;
        }
    }

    void to_deletes() {
        V next = down(row[0].D);
        for (int32_t q = tables.Q - 1; q >= 0; --q) row[q].M = row[q].M + next * transition(q, kMD), next = row[q].D;
    }

    void last_row() {
        C = odds.move, E = C * odds.kEndMove;
        for (Cells &cells : row) cells = {V{} + E, V{} + E, V{}};
        V next = down(row[tables.Q - 1].D), way{};
        for (int32_t q = tables.Q - 1; q >= 0; --q)
            way = next * delete_on(q), row[q].D = row[q].D + way, next = row[q].D;
        more_deletes(way);
        to_deletes();
    }

    void next_row(uint8_t code) {
        const int32_t Q = tables.Q;
        const float *match = tables.odds_of(code);
        V MM = down(transition(0, kMM)), IM = down(transition(0, kIM)), DM = down(transition(0, kDM));
        V next_M = down(row[0].M * at(match)), begins{};
        for (int32_t q = Q - 1; q >= 0; --q) {
            const V I = row[q].I, M = I * transition(q, kMI) + next_M * MM;
            row[q].I = I * transition(q, kII) + next_M * IM;
            row[q].D = next_M * DM;
            next_M = row[q].M * at(match + q * kQuad);
            row[q].M = M;
            DM = transition(q, kDM), IM = transition(q, kIM), MM = transition(q, kMM);
            begins = begins + next_M * transition(q, kBM);
        }
        B = sum_of(begins);
        C = C * odds.loop;
        J = B * odds.move + J * odds.loop;
        N = B * odds.move + N * odds.loop;
        E = C * odds.kEndMove + J * odds.kEndLoop;
        const V end = V{} + E;
        V next = down(row[0].D + end), way{};
        for (int32_t q = Q - 1; q >= 0; --q) {
            way = next * delete_on(q);
            row[q].D = row[q].D + (way + end);
            next = row[q].D;
            row[q].M = row[q].M + end;
        }
        more_deletes(way);
        to_deletes();
    }

    float begins(uint8_t code) const {
        const float *match = tables.odds_of(code);
        V sum{};
        for (int32_t q = 0; q < tables.Q; ++q) sum = sum + row[q].M * at(match + q * kQuad) * transition(q, kBM);
        return sum_of(sum);
    }

    void run(const uint8_t *codes, int32_t L, ParsedTarget &target) {
        const float *forward = target.forward.data();
        target.backward.resize(target.forward.size());
        float *out = target.backward.data();
        target.own_scales = false;
        for (int32_t i = L; i >= 1; --i) {
            if (i == L) last_row();
            else next_row(codes[i]);
            target.own_scales |= B > 1.0e16f;
            const float scale = !target.own_scales ? forward[i * kSpecials + kScale] : B > kHighRow ? B : 1;
            if (scale > 1) E /= scale, scale_down(scale);
            write(out + i * kSpecials, scale);
        }
        B = begins(codes[0]);
        N = B * odds.move + N * odds.loop;
        C = J = E = 0;
        write(out, 1);
        target.backward_nats = static_cast<float>(total + std::log(static_cast<double>(N)));
    }
};

}  // namespace

LengthOdds length_odds(int32_t L) {
    const float move = 3.0f / (static_cast<float>(L) + 3.0f);
    return {1.0f - move, move};
}

void forward_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    const DenormalsAsZero guard;
    for (size_t k = 0; k < targets.size(); ++k) {
        const int32_t L = block.length(targets[k]);
        nats[k] = Forward{model.floats(), length_odds(L)}.run(block.codes(targets[k]), L, nullptr);
    }
}

void forward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *out,
                   const KeepRows &keep) {
    const DenormalsAsZero guard;
    for (size_t k = 0; k < targets.size(); ++k) {
        const int32_t L = block.length(targets[k]);
        out[k].forward.resize(static_cast<size_t>(L + 1) * kSpecials);
        out[k].forward_nats =
            Forward{model.floats(), length_odds(L)}.run(block.codes(targets[k]), L, out[k].forward.data());
        if (keep && !keep(k, out[k].forward_nats)) out[k].forward = {};
    }
}

void backward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *inout) {
    const DenormalsAsZero guard;
    for (size_t k = 0; k < targets.size(); ++k) {
        const int32_t L = block.length(targets[k]);
        if (L) Backward{model.floats(), length_odds(L)}.run(block.codes(targets[k]), L, inout[k]);
    }
}

}  // namespace tropalign

#include "full_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "denormals.hpp"
#include "float_tables.hpp"
#include "quads.hpp"

namespace tropalign {
namespace {

struct Cells {
    Quad M, D, I;
};

/// The recurrence of one target over rows that all stay.
struct Forward {
    const FloatTables &tables;
    ModeOdds odds;
    float E = 0, N = 1, J = 0, B = odds.move, C = 0, total = 0;

    Quad transition(int32_t q, Transition t) const {
        return quad_at(tables.transitions.data() + (q * kDD + t) * kQuad);
    }
    Quad delete_on(int32_t q) const { return quad_at(tables.deletes.data() + q * kQuad); }

    void next_row(uint8_t code, const Cells *before, Cells *row) {
        const int32_t Q = tables.Q;
        const float *match = tables.odds_of(code);
        Quad before_M = up(before[Q - 1].M), before_D = up(before[Q - 1].D), before_I = up(before[Q - 1].I);
        Quad to_delete{}, ends{};
        for (int32_t q = 0; q < Q; ++q) {
            Quad sum = every_float(B) * transition(q, kBM);
            sum += before_M * transition(q, kMM);
            sum += before_I * transition(q, kIM);
            sum += before_D * transition(q, kDM);
            sum *= quad_at(match + q * kQuad);
            ends += sum;
            before_M = before[q].M, before_D = before[q].D, before_I = before[q].I;
            row[q] = {sum, to_delete, before_M * transition(q, kMI) + before_I * transition(q, kII)};
            to_delete = sum * transition(q, kMD);
        }
        deletes(to_delete, row);
        for (int32_t q = 0; q < Q; ++q) ends = row[q].D + ends;
        E = sum_of(ends);
    }

    void deletes(Quad way, Cells *row) const {
        const int32_t Q = tables.Q;
        way = up(way), row[0].D = Quad{};
        for (int32_t q = 0; q < Q; ++q) row[q].D = way + row[q].D, way = row[q].D * delete_on(q);
        for (int pass = 1; pass < kQuad; ++pass) {
            way = up(way);
            bool changed = tables.M < 100;
            for (int32_t q = 0; q < Q; ++q) {
                const Quad sum = way + row[q].D;
                changed |= any_above(sum, row[q].D);
                row[q].D = sum, way = way * delete_on(q);
            }
            if (!changed) break;
        }
    }

    /// The special states of a row, then all of it scaled down where it has grown; the factor.
    float close_row(Cells *row) {
        N = N * odds.loop;
        C = C * odds.loop + E * odds.end_move;
        J = J * odds.loop + E * odds.end_loop;
        B = J * odds.move + N * odds.move;
        if (!(E > kHighRow)) return 1;
        const float scale = E;
        N /= scale, C /= scale, J /= scale, B /= scale, E = 1;
        const Quad factor = every_float(static_cast<float>(1.0 / scale));
        for (int32_t q = 0; q < tables.Q; ++q) row[q].M *= factor, row[q].D *= factor, row[q].I *= factor;
        total = static_cast<float>(total + std::log(static_cast<double>(scale)));
        return scale;
    }

    void write(float *special, float scale) const {
        special[kE] = E, special[kN] = N, special[kJ] = J, special[kB] = B, special[kC] = C, special[kScale] = scale;
    }
};

}  // namespace

// HMMER's own operations: 3 and 2 are the numbers of states that residues outside of domains may be in.
ModeOdds multihit_odds(int32_t L) {
    const float move = 3.0f / (static_cast<float>(L) + 3.0f);
    return {1.0f - move, move, 0.5f, 0.5f};
}

ModeOdds unihit_odds(int32_t L) {
    const float move = 2.0f / (static_cast<float>(L) + 2.0f);
    return {1.0f - move, move, 1.0f, 0.0f};
}

size_t FullMatrix::bytes(int32_t M, int32_t L) {
    const size_t Q = std::max(2, (M + kQuad - 1) / kQuad);
    return (static_cast<size_t>(L) + 1) * (Q * kCells * kQuad + kSpecials) * sizeof(float);
}

void forward_matrix(const SearchModel &model, const uint8_t *codes, int32_t L, const ModeOdds &odds, FullMatrix &out) {
    const DenormalsAsZero guard;
    const FloatTables &tables = model.floats();
    Forward forward{tables, odds};
    out.L = L, out.Q = tables.Q;
    const size_t row = static_cast<size_t>(tables.Q) * FullMatrix::kCells * kQuad;
    out.cells.resize((static_cast<size_t>(L) + 1) * row);
    out.specials.resize((static_cast<size_t>(L) + 1) * kSpecials);
    std::fill_n(out.cells.begin(), row, 0.0f);
    forward.write(out.specials.data(), 1);
    for (int32_t i = 1; i <= L; ++i) {
        auto *cells = reinterpret_cast<Cells *>(out.cells.data() + i * row);
        forward.next_row(codes[i - 1], reinterpret_cast<const Cells *>(out.cells.data() + (i - 1) * row), cells);
        const float scale = forward.close_row(cells);
        forward.write(out.specials.data() + static_cast<size_t>(i) * kSpecials, scale);
    }
    out.nats = static_cast<float>(forward.total + std::log(static_cast<double>(forward.C * odds.move)));
}

}  // namespace tropalign

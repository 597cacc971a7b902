// Forward, a row at a time:
//
//     M(i, k) = odds(x_i, k) (B(i-1) BM + M(i-1, k-1) MM + I(i-1, k-1) IM + D(i-1, k-1) DM)
//     I(i, k) = M(i-1, k) MI + I(i-1, k) II
//     D(i, k) = M(i, k-1) MD + D(i, k-1) DD
//     E(i)    = M(i, 1) + ... + M(i, M) + D(i, 1) + ... + D(i, M)
//
// in HMMER's order of operations, over nodes that are striped (float_tables.hpp). A row replaces the one before it
// in place. The sum for M of the next quad is computed as soon as the old cells of this one are read, so that few
// registers are needed. D of the first nodes of quarters comes from M of the last ones: those are computed ahead,
// so that D's pass through a quarter can start together with the sweep over M.
#pragma once
#include "parser_lanes.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int G>
class ForwardParser : ParserLanes<G> {
    using Base = ParserLanes<G>;
    using Base::E, Base::N, Base::J, Base::B, Base::C, Base::loop, Base::move;
    using Base::kQuads, Base::kM, Base::kD, Base::kI, Base::tables;
    using typename Base::V, typename Base::Row, typename Base::Odds, typename Base::Cell;
    friend Base;

  public:
    ForwardParser(const FloatTables &given_tables, ParserQueue &given_queue, float *given_cells)
        : Base(given_tables, given_queue, given_cells) {}
    void run() { Base::run(*this); }

  private:
    int32_t start(int l) {
        const ParserTarget &given = this->lanes[l].given;
        N.of[l] = 1, B.of[l] = given.move;
        this->codes[l] = given.codes, this->code_step[l] = 1;
        if (given.rows) {
            this->rows[l] = given.rows, this->row_step[l] = kSpecials;
            this->write_row(l, 1);
            this->rows[l] += kSpecials;
            has_rows_ = true;
        }
        return given.L;
    }

    ParserResult finish(int l) const {
        return {static_cast<float>(this->total[l] + std::log(static_cast<double>(C.of[l] * move.of[l]))), false};
    }

    void next_row() {
        V ends[G];
        if (this->is_scaled) sweep<true>(ends);
        else sweep<false>(ends);
        states(this->sums_of(ends));
    }

    void states(V end) {
        N = N.all() * loop.all();
        C = C.all() * loop.all() + end * LengthOdds::kEndMove;
        J = J.all() * loop.all() + end * LengthOdds::kEndLoop;
        B = J.all() * move.all() + N.all() * move.all();
        E = end;
        V scale = every<V>(1);
        const uint32_t high = floats_above<kQuads>(end, every<V>(kHighRow));
        this->is_scaled = false;
        if (high) {
            scale = end > every<V>(kHighRow) ? end : scale;
            this->scale_down(high, scale);
            E = end > every<V>(kHighRow) ? every<V>(1) : end;
        }
        if (has_rows_) this->write_rows(scale);
    }

    /// Compute all cells of the row; return the sums of M and D, four per target.
    template <bool kScaled>
    void sweep(V (&all_ends)[G]) {
        const Row row = this->row();
        const Odds odds = this->odds_of_row();
        const int64_t Q = row.Q;
        V begin[G], factor[G], sum[G], D[G], way[G], ends[G];
        const auto old = [&](int64_t q, int g, Cell c) {
            const V v = row.at(q, g, c);
            return kScaled ? v * factor[g] : v;
        };
        const auto sum_for = [&](int64_t q, int g, V M_before, V D_before, V I_before) {
            V s = begin[g] * row.model(q, kBM);
            s = s + M_before * row.model(q, kMM);
            s = s + I_before * row.model(q, kIM);
            return s + D_before * row.model(q, kDM);
        };

#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
            begin[g] = this->of_group(g, B.all());
            factor[g] = this->of_group(g, this->factor.all());
            const int64_t a = Q - 2, z = Q - 1;
            const V last = sum_for(z, g, old(a, g, kM), old(a, g, kD), old(a, g, kI)) * odds.of[g](z);
            D[g] = up<kQuads>(last * row.model(z, kMD));
            sum[g] = sum_for(0, g, up<kQuads>(old(z, g, kM)), up<kQuads>(old(z, g, kD)), up<kQuads>(old(z, g, kI)));
            ends[g] = V{};
        }
        // Each transition is loaded once for all groups.
        for (int64_t q = 0; q < Q; ++q) {
            const int64_t next = q + 1 < Q ? q + 1 : q;  // the result for the last one is unused
            V M[G], old_M[G], old_D[G], old_I[G];
            const V MI = row.model(q, kMI), II = row.model(q, kII);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                M[g] = sum[g] * odds.of[g](q);
                ends[g] = ends[g] + M[g];
                old_M[g] = old(q, g, kM), old_D[g] = old(q, g, kD), old_I[g] = old(q, g, kI);
                row.set(q, g, kM, M[g]);
                row.set(q, g, kD, D[g]);
                row.set(q, g, kI, old_M[g] * MI + old_I[g] * II);
            }
            const V DD = row.model(q, kDD), MD = row.model(q, kMD);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                way[g] = D[g] * DD;
                D[g] = way[g] + M[g] * MD;
            }
            const V BM = row.model(next, kBM), MM = row.model(next, kMM);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) sum[g] = begin[g] * BM + old_M[g] * MM;
            const V IM = row.model(next, kIM);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) sum[g] = sum[g] + old_I[g] * IM;
            const V DM = row.model(next, kDM);
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) sum[g] = sum[g] + old_D[g] * DM;
        }
        if (tables.M < 100) more_deletes<false>(way);
        else more_deletes<true>(way);
        for (int64_t q = 0; q < Q; ++q) {
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) ends[g] = row.at(q, g, kD) + ends[g];
        }
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) all_ends[g] = ends[g];
    }

    /// Add D -> D from one quarter of the model into the next ones (row_limits.hpp). With kStops, as in HMMER for
    /// models of 100 nodes or more, a target stops after a pass that did not change any of its cells.
    template <bool kStops>
    [[gnu::always_inline]] void more_deletes(V (&way)[G]) {
        const Row row = this->row();
        const int64_t Q = row.Q;
        for (int pass = 1; pass < kQuad; ++pass) {
            V changed[G];
#pragma GCC unroll 4
            for (int g = 0; g < G; ++g) {
                way[g] = up<kQuads>(way[g]), changed[g] = V{};
            }
            if (pass > 1 && !any_counts(row, 0, way)) return;
            for (int64_t q = 0; q < Q;) {
                for (const int64_t stop = std::min(Q, q + kStride); q < stop; ++q) {
                    const V DD = row.model(q, kDD);
#pragma GCC unroll 4
                    for (int g = 0; g < G; ++g) {
                        const V had = row.at(q, g, kD), sum = way[g] + had;
                        if constexpr (kStops) changed[g] = with_differences<kQuads>(changed[g], sum, had);
                        row.set(q, g, kD, sum);
                        way[g] = way[g] * DD;
                    }
                }
                if (q < Q && !any_counts(row, q, way)) return;
            }
            if constexpr (kStops) {
#pragma GCC unroll 4
                for (int g = 0; g < G; ++g) {
                    way[g] = where_seen<kQuads>(changed[g], way[g]);
                }
            }
        }
    }

    /// True if any value carried to quad q, or further, may change a sum.
    [[gnu::always_inline]] static bool any_counts(const Row &row, int64_t q, const V (&way)[G]) {
        uint32_t any = 0;
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
            any |= floats_above<kQuads>(way[g] * kNegligible, row.at(q, g, kD));
        }
        return any != 0;
    }

    static constexpr int32_t kStride = 8;
    bool has_rows_ = false;
};

}  // namespace tropalign::TROPALIGN_ISA

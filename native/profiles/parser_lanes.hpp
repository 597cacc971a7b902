// Many targets at a time in a parser: G vectors (groups), each with N targets, a quad per target. A lane whose
// target has ended takes the next one.
//
// Numbers of which each target has one, such as its special states, share one vector for all groups: float g of quad n
// belongs to the target in quad n of group g. That is lane 4 n + g.
//
//     N = 2, G = 2     group 0      A A A A   B B B B         four nodes of A, four of B
//                      group 1      C C C C   D D D D
//                      one each     A C . .   B D . .         lanes 0, 1, 4, 5
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model_quads.hpp"
#include "parsers.hpp"
#include "row_limits.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int G>
class ParserLanes {
  protected:
    static constexpr int kQuads = kMostQuads, kWidth = 4 * kQuads;
    using V = QuadLanes<kQuads>;
    enum Cell { kM, kD, kI, kCells };

    const FloatTables &tables;
    ParserQueue &queue;
    float *const cells;
    const int32_t Q = tables.Q;

    /// A model's transitions and a row's cells, for the local variables of sweeps (model_quads.hpp).
    struct Row {
        ModelQuads<kQuads> model;
        float *cells;
        int64_t Q;

        [[gnu::always_inline]] float *cell(int64_t q, int g, Cell c) const {
            return cells + ((q * G + g) * kCells + c) * kWidth;
        }
        [[gnu::always_inline]] V at(int64_t q, int g, Cell c) const { return lanes_at<kQuads>(cell(q, g, c)); }
        [[gnu::always_inline]] void set(int64_t q, int g, Cell c, V v) const { put<kQuads>(cell(q, g, c), v); }
    };
    Row row() const { return {ModelQuads<kQuads>(tables), cells, Q}; }

    /// One number per lane.
    struct alignas(64) PerLane {
        float of[kWidth] = {};

        V all() const { return lanes_at<kQuads>(of); }
        void operator=(V v) { put<kQuads>(of, v); }
    };
    PerLane E, N, J, B, C, loop, move;
    PerLane factor;          ///< Factor for the cells of the last row.
    bool is_scaled = false;  ///< True if one of them is not 1.
    float total[kWidth] = {};

    struct Lane {
        int64_t target = -1;  ///< Index in the queue; below 0: idle.
        ParserTarget given;
        int32_t left = 0;  ///< Rows to go.
    };
    Lane lanes[kWidth];
    // Pointers that advance with every row of a lane; idle lanes stay at a gap, whose odds are zeros, and have no
    // rows.
    const uint8_t *codes[kWidth];
    float *rows[kWidth];
    const float *forward[kWidth];  ///< Rows of Forward, which Backward reads.
    int32_t code_step[kWidth] = {}, row_step[kWidth] = {};

    ParserLanes(const FloatTables &given_tables, ParserQueue &given_queue, float *given_cells)
        : tables(given_tables), queue(given_queue), cells(given_cells) {
        std::memset(cells, 0, sizeof(float) * Q * G * kCells * kWidth);
        for (int l = 0; l < kWidth; ++l) codes[l] = &kGap, rows[l] = spare_row_, forward[l] = kUnscaled;
        factor = every<V>(1);
    }

    /// The quad of one lane.
    float *quad(int32_t q, int lane, Cell c) const { return row().cell(q, lane % 4, c) + lane / 4 * kQuad; }

    /// Odds of the current residues of the lanes.
    struct Odds {
        LaneOdds<kQuads> of[G];
    };
    [[gnu::always_inline]] Odds odds_of_row() const {
        Odds odds;
        for (int n = 0; n < kQuads; ++n)
            for (int g = 0; g < G; ++g) odds.of[g].lanes[n] = tables.odds_of(*codes[4 * n + g]);
        return odds;
    }

    /// Sum each target's floats in HMMER's order: (0 + 1) + (2 + 3).
    static V sums_of(const V (&v)[G]) {
        const auto pairs = [](V a, V b) {
            return two_and_two<kQuads, 0, 2, 0, 2>(a, b) + two_and_two<kQuads, 1, 3, 1, 3>(a, b);
        };
        const V first = pairs(v[0], v[G > 1 ? 1 : 0]);
        return pairs(first, G > 2 ? pairs(v[G > 2 ? 2 : 0], v[G > 2 ? 3 : 0]) : first);
    }

    /// Divide the special states of the lanes whose bit is set by `scale` (1 elsewhere). Their cells are multiplied
    /// only when the next row reads them; the floats are the same.
    void scale_down(uint32_t bits, V scale) {
        for (PerLane *state : {&N, &J, &B, &C}) *state = state->all() / scale;
        factor = every<V>(1) / scale;
        alignas(64) float by[kWidth];
        put<kQuads>(by, scale);
        for (uint32_t rest = bits; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            total[l] = static_cast<float>(total[l] + std::log(static_cast<double>(by[l])));
        }
        is_scaled = true;
    }

    void write_row(int l, float scale) const {
        const float row[kSpecials] = {E.of[l], N.of[l], J.of[l], B.of[l], C.of[l], scale};
        std::memcpy(rows[l], row, sizeof row);
    }
    /// Extract a group's numbers from a vector for all groups, into all floats of each quad.
    [[gnu::always_inline]] static V of_group(int g, V v) {
        switch (g) {
            case 0:
                return every_of_quads<kQuads, 0>(v);
            case 1:
                return every_of_quads<kQuads, 1>(v);
            case 2:
                return every_of_quads<kQuads, 2>(v);
            default:
                return every_of_quads<kQuads, 3>(v);
        }
    }

    /// Write a row of every lane: vectors of one number each are transposed to pairs of numbers, these to rows.
    void write_rows(V scale) const {
        alignas(64) float heads[4][kWidth], tails[2][kWidth];
        turn<0>(heads, tails[0], scale);
        if constexpr (G > 2) turn<2>(heads + 2, tails[1], scale);
        for_lanes([&](int l) {
            const int n = l / 4 * kQuad, g = l % 4;
            std::memcpy(rows[l], heads[g] + n, 4 * sizeof(float));
            std::memcpy(rows[l] + 4, tails[g / 2] + n + g % 2 * 2, 2 * sizeof(float));
        });
    }

    /// Process all targets of the queue by start(lane), next_row() and finish(lane) of `parser`.
    template <class Parser>
    void run(Parser &parser) {
        for_lanes([&](int l) { take(parser, l); });
        while (const int32_t n_rows = rows_to_next_end()) {
            for (int32_t k = 0; k < n_rows; ++k) {
                parser.next_row();
                for_lanes([&](int l) { codes[l] += code_step[l], rows[l] += row_step[l], forward[l] += row_step[l]; });
            }
            for_lanes([&](int l) {
                if (lanes[l].target < 0 || (lanes[l].left -= n_rows) > 0) return;
                end(parser, l);
                take(parser, l);
            });
        }
    }

  private:
    /// Compute rows of groups First and First + 1: their first four numbers, and the last two of both.
    template <int First>
    void turn(float (*heads)[kWidth], float *tails, V scale) const {
        const V EN = pairs<First>(E.all(), N.all()), JB = pairs<First>(J.all(), B.all());
        put<kQuads>(heads[0], two_and_two<kQuads, 0, 1, 0, 1>(EN, JB));
        put<kQuads>(heads[1], two_and_two<kQuads, 2, 3, 2, 3>(EN, JB));
        put<kQuads>(tails, pairs<First>(C.all(), scale));
    }
    /// Return quads a0 b0 a1 b1 for First = 0, a2 b2 a3 b3 for 2.
    template <int First>
    static V pairs(V a, V b) {
        constexpr int k = First, l = First + 1;
        const V both = two_and_two<kQuads, k, l, k, l>(a, b);
        return two_and_two<kQuads, 0, 2, 1, 3>(both, both);
    }

    template <class F>
    [[gnu::always_inline]] static void for_lanes(F f) {
        for (int n = 0; n < kQuads; ++n)
            for (int g = 0; g < G; ++g) f(4 * n + g);
    }

    template <class Parser>
    void take(Parser &parser, int l) {
        Lane &lane = lanes[l];
        do {
            clear(l);
            if (n_taken_ == queue.size) return;
            lane.target = static_cast<int64_t>(n_taken_);
            lane.given = queue.begin(n_taken_++);
            loop.of[l] = lane.given.loop, move.of[l] = lane.given.move;
            lane.left = parser.start(l);
            if (lane.left == 0) end(parser, l);
        } while (lane.left == 0);
    }

    template <class Parser>
    void end(Parser &parser, int l) {
        queue.end(static_cast<size_t>(lanes[l].target), parser.finish(l));
    }

    void clear(int l) {
        lanes[l].target = -1;
        for (int32_t q = 0; q < Q; ++q)
            for (const Cell c : {kM, kD, kI}) std::memset(quad(q, l, c), 0, kQuad * sizeof(float));
        for (PerLane *number : {&E, &N, &J, &B, &C, &loop, &move}) number->of[l] = 0;
        factor.of[l] = 1, total[l] = 0;
        codes[l] = &kGap, code_step[l] = 0;
        rows[l] = spare_row_, forward[l] = kUnscaled, row_step[l] = 0;
    }

    int32_t rows_to_next_end() const {
        int32_t least = 0;
        for (const Lane &lane : lanes)
            if (lane.target >= 0 && (least == 0 || lane.left < least)) least = lane.left;
        return least;
    }

    static constexpr uint8_t kGap = kResidues;
    static constexpr float kUnscaled[kSpecials] = {0, 0, 0, 0, 0, 1};
    float spare_row_[kSpecials];
    size_t n_taken_ = 0;
};

}  // namespace tropalign::TROPALIGN_ISA

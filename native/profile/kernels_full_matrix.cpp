// Forward with every row kept. The recurrence, in HMMER's order of operations:
//
//     M(i, k) = odds(x_i, k) (B(i-1) BM + M(i-1, k-1) MM + I(i-1, k-1) IM + D(i-1, k-1) DM)
//     I(i, k) = M(i-1, k) MI + I(i-1, k) II
//     D(i, k) = M(i, k-1) MD + D(i, k-1) DD
//
// Nodes are striped (float_tables.hpp), so D runs along each quarter of the model first, then from one quarter into the
// next. The M of the last nodes of quarters are computed ahead, so that D's way can begin where that of M and I does.
#include <algorithm>
#include <cstring>

#include "full_matrix.hpp"
#include "model_quads.hpp"
#include "row_limits.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <int N>
class MatrixSweep {
    using V = QuadLanes<N>;
    static constexpr int kWidth = kQuad * N, kStates = 3;

  public:
    explicit MatrixSweep(const MatrixWork &work) : work_(work), tables_(*work.tables), Q_(work.tables->Q) {}

    void run() {
        const size_t row = static_cast<size_t>(Q_) * kStates * kWidth;
        std::memset(work_.cells, 0, row * sizeof(float));
        write_specials(0, every<V>(1));
        float *cells = work_.cells;
        for (int32_t i = 1; i <= work_.n_rows; ++i, cells += row) {
            LaneOdds<N> odds;
            for (int k = 0; k < N; ++k) odds.lanes[k] = tables_.odds_of(code(k, i));
            const V ends = next_row(cells, cells + row, odds);
            close_row(i, cells + row, ends);
        }
    }

  private:
    /// A gap, which no M emits, where the region has ended.
    uint8_t code(int k, int32_t i) const {
        return k < work_.n_regions && i <= work_.regions[k].L ? work_.regions[k].codes[i - 1] : uint8_t{kResidues};
    }

    template <class Of>
    V of_regions(Of of) const {
        V v{};
        for (int k = 0; k < std::min(N, work_.n_regions); ++k)
            for (int r = 0; r < kQuad; ++r) v[k * kQuad + r] = of(work_.regions[k].odds);
        return v;
    }

    /// Fills a row from the one before; the sum over its M and D.
    V next_row(const float *before, float *row, const LaneOdds<N> odds) const {
        const ModelQuads<N> model(tables_);
        const int64_t Q = Q_;
        const V B = B_;
        const auto M_at = [&](int64_t q) { return lanes_at<N>(before + q * kStates * kWidth); };
        const auto D_at = [&](int64_t q) { return lanes_at<N>(before + (q * kStates + 1) * kWidth); };
        const auto I_at = [&](int64_t q) { return lanes_at<N>(before + (q * kStates + 2) * kWidth); };
        const auto match = [&](int64_t q, V M, V I, V D) {
            V sum = B * model(q, kBM);
            sum = sum + M * model(q, kMM);
            sum = sum + I * model(q, kIM);
            sum = sum + D * model(q, kDM);
            return sum * odds(q);
        };
        V D = up<N>(match(Q - 1, M_at(Q - 2), I_at(Q - 2), D_at(Q - 2)) * model(Q - 1, kMD));
        V M_before = up<N>(M_at(Q - 1)), I_before = up<N>(I_at(Q - 1)), D_before = up<N>(D_at(Q - 1));
        V ends{}, way{};
        for (int64_t q = 0; q < Q; ++q) {
            float *cell = row + q * kStates * kWidth;
            const V M = match(q, M_before, I_before, D_before);
            ends = ends + M;
            M_before = M_at(q), I_before = I_at(q), D_before = D_at(q);
            put<N>(cell, M);
            put<N>(cell + kWidth, D);
            put<N>(cell + 2 * kWidth, M_before * model(q, kMI) + I_before * model(q, kII));
            way = D * model(q, kDD);
            D = way + M * model(q, kMD);
        }
        more_deletes(model, row + kWidth, way);
        for (int64_t q = 0; q < Q; ++q) ends = ends + lanes_at<N>(row + (q * kStates + 1) * kWidth);
        return sum_of_quads<N>(ends);
    }

    /// D -> D from one quarter of the model into the next ones. With models of 100 nodes or more, a region stops after
    /// a pass that has changed nothing of it.
    void more_deletes(const ModelQuads<N> model, float *deletes, V way) const {
        const int64_t Q = Q_;
        for (int pass = 1; pass < kQuad; ++pass) {
            way = up<N>(way);
            uint32_t changed = 0;
            for (int64_t q = 0; q < Q;) {
                V added{}, sum{};
                for (const int64_t stop = std::min(Q, q + 8); q < stop; ++q) {
                    float *cell = deletes + q * kStates * kWidth;
                    const V had = lanes_at<N>(cell);
                    added = way, sum = way + had;
                    changed |= floats_above<N>(sum, had);
                    put<N>(cell, sum);
                    way = way * model(q, kDD);
                }
                if (!floats_above<N>(added * kNegligible, sum)) return;
            }
            if (tables_.M < 100) continue;
            changed |= changed >> 1, changed |= changed >> 2;
            changed = (changed & 0x1111) * 15;
            if (!changed) return;
            way = where_bits<N>(changed, way);
        }
    }

    /// The special states of a row, and all of it scaled down where it has grown.
    void close_row(int32_t i, float *row, V E) {
        N_ = N_ * loop_;
        C_ = C_ * loop_ + E * end_move_;
        J_ = J_ * loop_ + E * end_loop_;
        B_ = J_ * move_ + N_ * move_;
        E_ = E;
        const V one = every<V>(1);
        V scale = one;
        if (floats_above<N>(E, every<V>(kHighRow))) {
            for (int l = 0; l < kWidth; ++l) scale[l] = E[l] > kHighRow ? E[l] : 1;
            N_ = N_ / scale, C_ = C_ / scale, J_ = J_ / scale, B_ = B_ / scale, E_ = E / scale;
            const V factor = one / scale;
            for (int32_t q = 0; q < Q_ * kStates; ++q) put<N>(row + q * kWidth, lanes_at<N>(row + q * kWidth) * factor);
        }
        write_specials(i, scale);
    }

    void write_specials(int32_t i, V scale) const {
        for (int k = 0; k < std::min(N, work_.n_regions); ++k) {
            if (i > work_.regions[k].L) continue;
            float *special = work_.specials[k] + static_cast<int64_t>(i) * kSpecials;
            const int l = k * kQuad;
            special[kE] = E_[l], special[kN] = N_[l], special[kJ] = J_[l], special[kB] = B_[l], special[kC] = C_[l];
            special[kScale] = scale[l];
        }
    }

    const MatrixWork &work_;
    const FloatTables &tables_;
    const int32_t Q_;
    const V loop_ = of_regions([](const ModeOdds &odds) { return odds.loop; });
    const V move_ = of_regions([](const ModeOdds &odds) { return odds.move; });
    const V end_move_ = of_regions([](const ModeOdds &odds) { return odds.end_move; });
    const V end_loop_ = of_regions([](const ModeOdds &odds) { return odds.end_loop; });
    V E_{}, N_ = every<V>(1), J_{}, B_ = move_, C_{};
};

template <int N>
void fill(const MatrixWork &work) {
    MatrixSweep<N>(work).run();
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const FullMatrixKernels full_matrix_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kMostQuads, fill<kMostQuads>,
                                                      fill<1>};

}  // namespace tropalign::TROPALIGN_ISA

// Forward with every row kept, for parallel regions: the row recurrence of forward_row.hpp, then the special
// states.
#include <algorithm>
#include <cstring>

#include "forward_row.hpp"
#include "full_matrix.hpp"

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
            const V ends = forward_row<N>(tables_, odds, B_, Cells{cells, cells + row});
            close_row(i, cells + row, ends);
        }
    }

  private:
    /// Return the code of a residue; after the end of the region a gap, which no M emits.
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

    /// A row and the one before, in the form that forward_row() requires.
    struct Cells {
        const float *before;
        float *row;

        [[gnu::always_inline]] V M(int64_t q) const { return lanes_at<N>(before + q * kStates * kWidth); }
        [[gnu::always_inline]] V D(int64_t q) const { return lanes_at<N>(before + (q * kStates + 1) * kWidth); }
        [[gnu::always_inline]] V I(int64_t q) const { return lanes_at<N>(before + (q * kStates + 2) * kWidth); }
        [[gnu::always_inline]] void set(int64_t q, V M, V I) const {
            put<N>(row + q * kStates * kWidth, M);
            put<N>(row + (q * kStates + 2) * kWidth, I);
        }
        DeleteRow deletes() const { return {row + kWidth, kStates * kWidth}; }
    };

    /// Set the special states of a row, and scale all of it down if it has grown.
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

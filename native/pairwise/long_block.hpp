// One block of a long pair: a band of rows by a chunk of columns, with the vector's lanes along an anti-diagonal.
//
// Lane l takes the l-th strip of the band's rows, C columns behind lane l - 1, so that the values below the strip
// of lane l - 1 are those above the strip of lane l: the same sweep as for a lane per pair, except that the edge
// moves by one lane between two steps. With 4 lanes and 6 steps' worth of columns (* an active lane):
//
//     step      0  1  2  3  4  5  6  7  8
//     lane 0    *  *  *  *  *  *  .  .  .     enters: C cells of the border above the band, and C column residues
//     lane 1    .  *  *  *  *  *  *  .  .
//     lane 2    .  .  *  *  *  *  *  *  .
//     lane 3    .  .  .  *  *  *  *  *  *     leaves: C cells of the border below the band, 3 steps late
//
// The band's rows are padded to whole strips in front, in the first lanes: the last lane's last row is then always
// the band's last one. Columns beyond the last multiple of kColumns are swept one per step, as a separate part.
#pragma once
#include <cstring>
#include <type_traits>
#include <vector>

#include "long_borders.hpp"
#include "score_source.hpp"
#include "table_scores.hpp"

namespace tropalign::TROPALIGN_ISA {

/// `Scores`: PairScores, FewLetterScores or TableScores.
template <class T, int B, Mode M, class Scores>
class LongBlock {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr bool kFewLetters = std::is_same_v<Scores, FewLetterScores<B>>;
    static constexpr bool kFromTable = std::is_same_v<Scores, TableScores<T, B>>;
    using V = Vec<T, B>;
    using Borders = LongBorders<T, B, M>;
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;
    static constexpr int kTrackColumns = kColumns * kTable + 64;  // from a column's residues to those of the track
    template <bool Traced>
    static constexpr Trace kTrace = Traced ? Trace::masks : Trace::nothing;

  public:
    /// The best cell of a local alignment so far, in the whole matrix.
    struct Best {
        int64_t score = 0;
        int row = 0, column = 0;

        bool before(const Best &other) const {
            if (score != other.score) return score > other.score;
            return ends_before<false>(row, column, other.row, other.column);
        }
    };

    explicit LongBlock(Borders &borders) : borders_(borders) {}

    /// Bytes of a block without its masks, which are allocated only for the path.
    static size_t bytes(Cut cut) {
        const size_t rows = whole_blocks(cut.strip);
        size_t scores = 0;
        if constexpr (!kFewLetters) scores = Scores::bytes(rows);
        return UnitScratch::taken(sizeof(V) * 2 * rows) + UnitScratch::taken(scores) +
               UnitScratch::taken(rows * (kFewLetters ? sizeof(V) : 2 * kTable)) + sizeof(V) * rows;
    }
    static size_t mask_bytes(Cut cut, int columns) {
        const int main = columns / kColumns * kColumns;
        return UnitScratch::taken(sizeof(Masks<T, B>) * masks_of(main, cut.strip, columns));
    }

    /// Sweep block (band, chunk) from its upper and left borders to its lower and right ones.
    template <bool Traced>
    void sweep(int band, int chunk) {
        band_ = band, chunk_ = chunk;
        row0_ = band * borders_.band_rows, column0_ = chunk * borders_.cut.chunk;
        rows_ = std::min(borders_.band_rows, borders_.m - row0_);
        columns_ = std::min(borders_.cut.chunk, borders_.n - column0_);
        strip_ = (rows_ + L - 1) / L;
        pad_ = strip_ * L - rows_;
        main_ = columns_ / kColumns * kColumns;
        corner_ = borders_.corner(band, chunk);
        H_ = static_cast<V *>(scratch_.get(Slot::state, sizeof(V) * 2 * strip_));
        E_ = H_ + strip_;
        if (Traced)
            masks_ = static_cast<Masks<T, B> *>(
                scratch_.get(Slot::masks, sizeof(Masks<T, B>) * masks_of(main_, strip_, columns_)));
        load_state();
        auto scores = make_scores();
        if (main_ > 0) part<kColumns, Traced>(scores, 0, main_, masks_);
        if (main_ < columns_)
            part<1, Traced>(scores, main_, columns_ - main_, Traced ? masks_ + tail_masks(main_, strip_) : nullptr);
        if constexpr (kLocal) borders_.set_corner(band, corner_);
        store_state();
    }

    /// True if the cell that pairs rows[i] and columns[j] is not left of or above this block's first cell.
    bool holds(int i, int j) const { return i >= row0_ && j >= column0_; }

    /// Return mask k of the cell that pairs rows[i] and columns[j].
    bool direction(int i, int j, int k) const {
        const int r = i - row0_ + pad_, lane = r / strip_, row = r % strip_;
        j -= column0_;
        const bool is_main = j < main_;
        const size_t base = is_main ? 0 : tail_masks(main_, strip_);
        const int step = is_main ? j / kColumns + lane : j - main_ + lane, c = is_main ? j % kColumns : 0;
        const Masks<T, B> &cell = masks_[base + (static_cast<size_t>(step) * strip_ + row) * kColumns + c];
        return cell.bit(Masks<T, B>::place(lane), k);
    }

    Best best;

  private:
    static size_t tail_masks(int main, int strip) {
        return static_cast<size_t>(main / kColumns + L) * strip * kColumns;
    }
    static size_t masks_of(int main, int strip, int columns) {
        return tail_masks(main, strip) + static_cast<size_t>(columns - main + L) * strip * kColumns;
    }

    /// Return row i of lane l's strip within the sequence; below row0_ for padding.
    int row_of(int l, int i) const { return row0_ + l * strip_ + i - pad_; }

    void load_state() {
        const T *value = chunk_ > 0 ? borders_.left_value(chunk_) : nullptr;
        const T *gap = chunk_ > 0 ? borders_.left_gap(chunk_) : nullptr;
        const bool is_free = borders_.pair.free_rows_begin;
        const T rest = kLocal ? borders_.floor : T{0}, rest_gap = static_cast<T>(rest - borders_.scoring.open);
        started_.resize(strip_);
        for (int i = 0; i < strip_; ++i) {
            alignas(64) T h[L], e[L], s[L];
            for (int l = 0; l < L; ++l) {
                const int row = row_of(l, i);
                const bool real = row >= row0_;
                h[l] = !real ? rest : value ? value[row] : borders_.outer_value(row, is_free);
                e[l] = !real ? rest_gap : gap ? gap[row] : borders_.outer_gap();
                s[l] = static_cast<T>(-real);
            }
            H_[i] = load<T, B>(h), E_[i] = load<T, B>(e), started_[i] = load<T, B>(s);
        }
    }

    void store_state() {
        if (!borders_.keeps_left(chunk_ + 1)) return;
        T *value = borders_.left_value(chunk_ + 1), *gap = borders_.left_gap(chunk_ + 1);
        for (int i = 0; i < strip_; ++i) {
            alignas(64) T h[L], e[L];
            store<T, B>(h, H_[i]), store<T, B>(e, E_[i]);
            for (int l = 0; l < L; ++l)
                if (const int row = row_of(l, i); row >= row0_) value[row] = h[l], gap[row] = e[l];
        }
    }

    Scores make_scores() {
        const uint8_t *codes = borders_.pair.rows.codes;
        if constexpr (kFromTable) {
            return Scores(*borders_.table, row_of(0, 0), column0_, strip_,
                          scratch_.get(Slot::scores, Scores::bytes(strip_)));
        } else if constexpr (kFewLetters) {
            Scores scores(borders_.scoring, borders_.pair);
            auto *numbers = static_cast<V *>(scratch_.get(Slot::row_letters, sizeof(V) * strip_));
            for (int i = 0; i < strip_; ++i) {
                alignas(64) uint8_t number[L];
                for (int l = 0; l < L; ++l) {
                    const int row = row_of(l, i);
                    number[l] = row >= row0_ ? scores.number_of_row(codes[row]) : 0;
                }
                numbers[i] = load<T, B>(number);
            }
            scores.set_rows(numbers);
            return scores;
        } else {
            const size_t size = static_cast<size_t>(whole_blocks(strip_)) * kTable;
            const ptrdiff_t track = borders_.scoring.track;
            auto *letters = static_cast<int8_t *>(scratch_.get(Slot::row_letters, 2 * size));
            std::memset(letters, kPadCode, 2 * size);
            for (int l = 0; l < L; ++l)
                for (int i = 0; i < strip_; ++i)
                    if (const int row = row_of(l, i); row >= row0_) {
                        const size_t at = gathered_index<kTable>(l, i);
                        letters[at] = static_cast<int8_t>(codes[row]);
                        if (track) letters[size + at] = static_cast<int8_t>(codes[row + track]);
                    }
            return Scores(borders_.scoring, letters, strip_, scratch_.get(Slot::scores, Scores::bytes(strip_)),
                          {letters + size, kTrackColumns});
        }
    }

    /// Move every lane's number to the next lane; `in` enters lane 0.
    static V moved(V values, T in) {
        alignas(64) T line[2 * L];
        store<T, B>(line + 1, values);
        line[0] = in;
        return load<T, B>(line);
    }

    /// Sweep `count` columns (of the block) starting at `from`, C per step.
    template <int C, bool Traced>
    void part(Scores &scores, int from, int count, Masks<T, B> *masks) {
        const int steps = count / C, column0 = column0_ + from;
        // For a score the lines above and below are the same one: a cell is read L - 1 steps before it is overwritten.
        const T *above = borders_.top_value(band_) + column0, *gap = borders_.top_gap(band_) + column0;
        T *below = borders_.top_value(band_ + 1) + column0, *gap_below = borders_.top_gap(band_ + 1) + column0;
        const T next_corner = above[count - 1];
        const uint8_t *codes = borders_.pair.columns.codes + column0;
        const ptrdiff_t track = borders_.scoring.track;
        alignas(64) uint8_t letters[2 * kTrackColumns];
        std::memset(letters, borders_.pair.columns.codes[0], kTrackColumns);
        std::memset(letters + kTrackColumns, borders_.pair.columns.codes[track], kTrackColumns);
        LocalBest<T, B> tracked(borders_.floor);
        V threshold = splat<T, B>(borders_.floor);
        Edge<T, B> edge{};
        edge.corner = first_corner();
        for (int t = 0; t < steps + L - 1; ++t) {
            const bool enters = t < steps;
            for (int c = 0; c < C; ++c) {
                edge.value[c] = moved(edge.value[c], enters ? above[t * C + c] : T{0});
                edge.gap[c] = moved(edge.gap[c], enters ? gap[t * C + c] : T{0});
                if constexpr (kFromTable) continue;
                std::memmove(letters + c * kTable + 1, letters + c * kTable, L - 1);
                if (enters) letters[c * kTable] = codes[t * C + c];
                if (!track) continue;
                uint8_t *others = letters + kTrackColumns + c * kTable;
                std::memmove(others + 1, others, L - 1);
                if (enters) others[0] = codes[t * C + c + track];
            }
            if constexpr (kFromTable)
                scores.template columns<C>(from + t * C, std::max(t - steps + 1, 0), std::min(t, L - 1));
            else scores.template columns<C>(letters);
            TraceOf<kTrace<Traced>, T, B> *to = nullptr;
            if constexpr (Traced) to = masks + static_cast<size_t>(t) * strip_ * kColumns;
            step<C, Traced>(scores, t, steps, edge, to, threshold, tracked);
            if (const int leaves = t - L + 1; leaves >= 0)
                for (int c = 0; c < C; ++c) {
                    below[leaves * C + c] = edge.value[c][L - 1];
                    gap_below[leaves * C + c] = edge.gap[c][L - 1];
                }
        }
        corner_ = next_corner;
        if constexpr (kLocal) harvest(tracked, column0, C);
    }

    template <int C, bool Traced>
    void step(Scores &scores, int t, int steps, Edge<T, B> &edge, TraceOf<kTrace<Traced>, T, B> *masks, V &threshold,
              LocalBest<T, B> &tracked) {
        const Scoring &scoring = borders_.scoring;
        const Participation<T, B> lanes{active(t, steps), started_.data(), pad_ > 0 ? strip_ : 0};
        const bool is_partial = t < L - 1 || t >= steps || pad_ > 0;
        if constexpr (kLocal) {
            const LocalScoring<T> costs{borders_.floor, static_cast<T>(scoring.open + scoring.extend),
                                        static_cast<T>(scoring.extend)};
            local_columns<T, B, C, kTrace<Traced>, true, false, true>(scores, strip_, t * C, costs, H_, E_, masks,
                                                                      threshold, tracked, edge, lanes);
        } else if (is_partial) {
            global_step<C, Traced, true>(scores, edge, masks, lanes);
        } else {
            global_step<C, Traced, false>(scores, edge, masks, lanes);
        }
    }

    /// A separate function: GCC 12 spills columns of the sweep when it inlines several.
    template <int C, bool Traced, bool Partial>
    [[gnu::noinline]] void global_step(const Scores &scores, Edge<T, B> &edge, TraceOf<kTrace<Traced>, T, B> *masks,
                                       const Participation<T, B> &lanes) {
        const T open = static_cast<T>(borders_.scoring.open);
        global_columns<T, B, C, kTrace<Traced>, false, Partial ? Part::active : Part::all>(scores, strip_, open, H_, E_,
                                                                                           masks, edge, lanes);
    }

    /// Return H above each strip's first row, in the column before the part's first.
    V first_corner() const {
        if constexpr (!kLocal) return V{};
        alignas(64) T corner[L], last[L];
        store<T, B>(last, H_[strip_ - 1]);
        for (int l = 0; l < L; ++l) {
            const bool is_first = l == 0 || l * strip_ - pad_ <= 0;  // the band's first row is here or below
            corner[l] = is_first ? corner_ : last[l - 1];
        }
        return load<T, B>(corner);
    }

    V active(int t, int steps) const {
        alignas(64) T lanes[L];
        for (int l = 0; l < L; ++l) lanes[l] = static_cast<T>(-(t >= l && t - l < steps));
        return load<T, B>(lanes);
    }

    /// Update the best cell. Columns of `tracked` count from the part's first column, and in lane l from l steps before
    /// it.
    void harvest(const LocalBest<T, B> &tracked, int column0, int columns_per_step) {
        for (int l = 0; l < L; ++l) {
            if (tracked.row[l] < 0) continue;
            const Best found{int64_t{tracked.score[l]} - borders_.floor, row_of(l, tracked.row[l]),
                             column0 + tracked.column[l] - l * columns_per_step};
            if (found.before(best)) best = found;
        }
    }

    Borders &borders_;
    UnitScratch scratch_;
    std::vector<V> started_;
    V *H_ = nullptr, *E_ = nullptr;
    Masks<T, B> *masks_ = nullptr;
    T corner_{};
    int band_ = 0, chunk_ = 0, row0_ = 0, column0_ = 0, rows_ = 0, columns_ = 0, strip_ = 0, pad_ = 0, main_ = 0;
};

}  // namespace tropalign::TROPALIGN_ISA

// One pair of long sequences: wavefronts, threads, and an alignment in little memory.
//
// The matrix is cut into blocks: bands of rows, chunks of columns. Within a block lane l of the vector takes the l-th
// strip of the band's rows, C columns behind lane l - 1, so that what that lane left below its strip is what lane l
// finds above its own:
//
//     step t:   lane 0  columns tC..tC+C-1          the same sweep as for a lane a pair; between two steps the edge
//               lane 1  columns (t-1)C..(t-1)C+C-1  moves one lane on
//
// Blocks of an anti-diagonal are independent: threads take them. The values on the borders of all blocks are kept (two
// numbers a row or column); for the path the blocks that it meets, from the end back, are swept again with masks.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "../compute/parallel.hpp"
#include "kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int B, bool Local, bool FewLetters>
class LongPair {
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = L < 16 ? 16 : L;
    static constexpr int kStrip = 64;              // rows of a strip
    static constexpr int kBand = L * kStrip;       // rows of a band
    static constexpr int kChunk = 4096;            // columns of a chunk
    using Scores = std::conditional_t<FewLetters, FewLetterScores<B>, PairScores<T, B>>;

  public:
    LongPair(const Scoring &scoring, const LanePair &pair)
        : scoring_(scoring), pair_(pair), m_(pair.rows.length), n_(pair.columns.length), bands_((m_ + kBand - 1) / kBand),
          chunks_((n_ + kChunk - 1) / kChunk), range_(scoring) {
        const size_t per_row = static_cast<size_t>(chunks_ + 1) * m_, per_column = static_cast<size_t>(bands_ + 1) * n_;
        for (auto *side : {&left_value_, &left_gap_}) *side = Buffer<T>(per_row);
        for (auto *side : {&top_value_, &top_gap_}) *side = Buffer<T>(per_column);
        set_borders();
    }

    /// False when `poll` stopped it.
    bool run(int n_threads, const Poll &poll, LaneResult &result, Buffer<uint32_t> &path) {
        std::vector<std::unique_ptr<Block>> blocks;
        for (int t = 0; t < n_threads; ++t) blocks.push_back(std::make_unique<Block>(*this));
        int64_t begun = 0;
        for (int d = 0; d < bands_ + chunks_ - 1; ++d) {
            const int first = std::max(0, d - chunks_ + 1), count = std::min(d, bands_ - 1) - first + 1;
            auto sweep = [&](int thread, int64_t k) {
                blocks[thread]->template sweep<false>(first + static_cast<int>(k), d - first - static_cast<int>(k));
            };
            if (n_threads == 1 || count == 1)
                for (int k = 0; k < count; ++k) sweep(0, k);
            else parallel(std::min(n_threads, count), count, 1, sweep, [](int64_t) { return true; });
            begun += count;
            if (!poll(begun)) return false;
        }
        result = LaneResult{};
        if constexpr (Local) find_local_end(blocks, result);
        else find_global_end(result);
        if (scoring_.depth != Depth::score && !(Local && result.score == 0)) walk(*blocks[0], result, path);
        return true;
    }

  private:
    struct Best {
        int64_t score = 0;
        int row = 0, column = 0;
    };

    T *left(Buffer<T> &side, int chunk) { return side.data() + static_cast<size_t>(chunk) * m_; }
    T *top(Buffer<T> &side, int band) { return side.data() + static_cast<size_t>(band) * n_; }

    void set_borders() {
        const T open = static_cast<T>(scoring_.open), extend = static_cast<T>(scoring_.extend);
        const T floor = static_cast<T>(range_.floor), closed = static_cast<T>(floor - open - extend);
        auto fill = [&](T *value, T *gap, int count, bool free) {
            for (int k = 0; k < count; ++k) {
                value[k] = Local ? floor : free ? extend : k == 0 ? static_cast<T>(-open) : T{0};
                gap[k] = Local ? closed : static_cast<T>(-open);
            }
        };
        fill(left(left_value_, 0), left(left_gap_, 0), m_, pair_.free_rows_begin);
        fill(top(top_value_, 0), top(top_gap_, 0), n_, pair_.free_columns_begin);
    }

    /// A block's rows and columns, and the buffers to sweep it with.
    class Block {
      public:
        explicit Block(LongPair &whole) : whole_(whole) {}

        /// Sweeps block (band, chunk) from its upper and left borders to its lower and right ones.
        template <bool Trace>
        void sweep(int band, int chunk) {
            band_ = band, chunk_ = chunk;
            row0_ = band * kBand, column0_ = chunk * kChunk;
            rows_ = std::min(kBand, whole_.m_ - row0_), columns_ = std::min(kChunk, whole_.n_ - column0_);
            strip_ = (rows_ + L - 1) / L;
            pad_ = strip_ * L - rows_;
            main_ = columns_ / kColumns * kColumns;
            H_ = static_cast<V *>(scratch_.get(kState, sizeof(V) * 2 * strip_));
            E_ = H_ + strip_;
            if (Trace)
                masks_ = static_cast<Masks<T, B> *>(scratch_.get(kMasks, sizeof(Masks<T, B>) * (tail_masks() +
                                    static_cast<size_t>(columns_ - main_ + L) * strip_ * kColumns)));
            load_state();
            auto scores = make_scores();
            if (main_ > 0) part<kColumns, Trace>(scores, 0, main_, masks_);
            if (main_ < columns_) part<1, Trace>(scores, main_, columns_ - main_, Trace ? masks_ + tail_masks() : nullptr);
            store_state();
        }

        bool holds(int i, int j) const { return i >= row0_ && j >= column0_; }
        /// Masks of the cell that pairs rows[i] and columns[j].
        const Masks<T, B> &at(int i, int j, int &bit) const {
            const int r = i - row0_ + pad_, lane = r / strip_, row = r % strip_;
            bit = lane * Lanes<T, B>::bits_a_lane;
            j -= column0_;
            const size_t base = j < main_ ? 0 : tail_masks();
            const int step = j < main_ ? j / kColumns + lane : j - main_ + lane, c = j < main_ ? j % kColumns : 0;
            return masks_[base + (static_cast<size_t>(step) * strip_ + row) * kColumns + c];
        }
        Best best;

      private:
        size_t tail_masks() const { return static_cast<size_t>(main_ / kColumns + L) * strip_ * kColumns; }

        /// Row of lane l, row i of its strip, within the sequence; below row0_ for padding.
        int row_of(int l, int i) const { return row0_ + l * strip_ + i - pad_; }

        void load_state() {
            const T *value = whole_.left(whole_.left_value_, chunk_), *gap = whole_.left(whole_.left_gap_, chunk_);
            const T rest = Local ? static_cast<T>(whole_.range_.floor) : T{0};
            started_.resize(strip_);
            for (int i = 0; i < strip_; ++i) {
                alignas(64) T h[L], e[L], s[L];
                for (int l = 0; l < L; ++l) {
                    const int row = row_of(l, i);
                    const bool real = row >= row0_;
                    h[l] = real ? value[row] : rest;
                    e[l] = real ? gap[row] : static_cast<T>(rest - whole_.scoring_.open);
                    s[l] = static_cast<T>(-real);
                }
                H_[i] = load<T, B>(h), E_[i] = load<T, B>(e), started_[i] = load<T, B>(s);
            }
        }

        void store_state() {
            T *value = whole_.left(whole_.left_value_, chunk_ + 1), *gap = whole_.left(whole_.left_gap_, chunk_ + 1);
            for (int i = 0; i < strip_; ++i) {
                alignas(64) T h[L], e[L];
                store<T, B>(h, H_[i]), store<T, B>(e, E_[i]);
                for (int l = 0; l < L; ++l)
                    if (const int row = row_of(l, i); row >= row0_) value[row] = h[l], gap[row] = e[l];
            }
        }

        Scores make_scores() {
            const uint8_t *codes = whole_.pair_.rows.codes;
            if constexpr (FewLetters) {
                Scores scores(whole_.scoring_, whole_.pair_);
                auto *places = static_cast<V *>(scratch_.get(kRowLetters, sizeof(V) * strip_));
                for (int i = 0; i < strip_; ++i) {
                    alignas(64) uint8_t place[L];
                    for (int l = 0; l < L; ++l) {
                        const int row = row_of(l, i);
                        place[l] = row >= row0_ ? scores.row_place(codes[row]) : 0;
                    }
                    places[i] = load<T, B>(place);
                }
                scores.rows(places);
                return scores;
            } else {
                const int width = (strip_ + 15) / 16 * 16;
                auto *letters = static_cast<int8_t *>(scratch_.get(kRowLetters, static_cast<size_t>(width) * kTable));
                std::memset(letters, kPadCode, static_cast<size_t>(width) * kTable);
                for (int l = 0; l < L; ++l)
                    for (int i = 0; i < strip_; ++i)
                        if (const int row = row_of(l, i); row >= row0_)
                            letters[static_cast<size_t>(i / 16) * 16 * kTable + (l % 16) * kTable + l / 16 * 16 + i % 16] =
                                static_cast<int8_t>(codes[row]);
                void *memory = scratch_.get(kScores, Scores::bytes(width));
                return Scores(whole_.scoring_, letters, strip_, nullptr, memory);
            }
        }

        /// Moves every lane's number to the next lane; `in` enters lane 0.
        static V moved(V values, T in) {
            alignas(64) T line[2 * L];
            store<T, B>(line + 1, values);
            line[0] = in;
            return load<T, B>(line);
        }

        /// `count` columns (of the block) from `from` on, C a step.
        template <int C, bool Trace>
        void part(Scores &scores, int from, int count, Masks<T, B> *masks) {
            const int steps = count / C, column0 = column0_ + from;
            const T *above = whole_.top(whole_.top_value_, band_) + column0, *gap = whole_.top(whole_.top_gap_, band_) + column0;
            T *below = whole_.top(whole_.top_value_, band_ + 1) + column0, *gap_below = whole_.top(whole_.top_gap_, band_ + 1) + column0;
            const uint8_t *codes = whole_.pair_.columns.codes + column0;
            alignas(64) uint8_t letters[C * kTable + 1];
            std::memset(letters, whole_.pair_.columns.codes[0], sizeof letters);
            LocalBest<T, B> tracked(static_cast<T>(whole_.range_.floor));
            V best = splat<T, B>(static_cast<T>(whole_.range_.floor));
            Edge<T, B> edge{};
            edge.corner = first_corner(column0, above);
            const int padded_rows = pad_ > 0 ? strip_ : 0;
            for (int t = 0; t < steps + L - 1; ++t) {
                const bool enters = t < steps;
                for (int c = 0; c < C; ++c) {
                    edge.value[c] = moved(edge.value[c], enters ? above[t * C + c] : T{0});
                    edge.gap[c] = moved(edge.gap[c], enters ? gap[t * C + c] : T{0});
                    std::memmove(letters + c * kTable + 1, letters + c * kTable, L - 1);
                    if (enters) letters[c * kTable] = codes[t * C + c];
                }
                scores.template letters<C>(letters);
                Masks<T, B> *to = Trace ? masks + static_cast<size_t>(t) * strip_ * kColumns : nullptr;
                Participation<T, B> those{active(t, steps), started_.data(), padded_rows};
                const bool partial = t < L - 1 || t >= steps || pad_ > 0;
                if constexpr (Local) {
                    LocalScoring<T> scoring{static_cast<T>(whole_.range_.floor),
                                            static_cast<T>(whole_.scoring_.open + whole_.scoring_.extend),
                                            static_cast<T>(whole_.scoring_.extend)};
                    local_columns<T, B, C, Trace, !Trace, false, true>(scores, strip_, t * C, scoring, H_, E_, to, best,
                                                                       tracked, edge, those);
                } else if (partial) {
                    global_columns<T, B, C, Trace, false, true>(scores, strip_, static_cast<T>(whole_.scoring_.open), H_, E_,
                                                                to, edge, those);
                } else {
                    global_columns<T, B, C, Trace, false, false>(scores, strip_, static_cast<T>(whole_.scoring_.open), H_, E_,
                                                                 to, edge, those);
                }
                if (const int leaves = t - L + 1; leaves >= 0)
                    for (int c = 0; c < C; ++c) {
                        below[leaves * C + c] = edge.value[c][L - 1];
                        gap_below[leaves * C + c] = edge.gap[c][L - 1];
                    }
            }
            if constexpr (Local && !Trace) harvest(tracked, column0, C);
        }

        /// H above each strip's first row, in the column before `column0`.
        V first_corner(int column0, const T *above) const {
            if constexpr (!Local) return V{};
            const T floor = static_cast<T>(whole_.range_.floor);
            alignas(64) T corner[L], last[L];
            store<T, B>(last, H_[strip_ - 1]);
            for (int l = 0; l < L; ++l) {
                const bool first = l == 0 || l * strip_ - pad_ <= 0;  // the band's first row lies in this strip, or below it
                corner[l] = first ? (column0 > 0 ? above[-1] : floor) : last[l - 1];
            }
            return load<T, B>(corner);
        }

        V active(int t, int steps) const {
            alignas(64) T lanes[L];
            for (int l = 0; l < L; ++l) lanes[l] = static_cast<T>(-(t >= l && t - l < steps));
            return load<T, B>(lanes);
        }

        void harvest(const LocalBest<T, B> &tracked, int column0, int columns_a_step) {
            for (int l = 0; l < L; ++l) {
                if (tracked.row[l] < 0) continue;
                Best found{int64_t{tracked.score[l]} - whole_.range_.floor, row_of(l, tracked.row[l]),
                           column0 + tracked.column[l] - l * columns_a_step};
                if (better(found, best)) best = found;
            }
        }

        LongPair &whole_;
        Scratch scratch_;
        std::vector<V> started_;
        V *H_ = nullptr, *E_ = nullptr;
        Masks<T, B> *masks_ = nullptr;
        int band_ = 0, chunk_ = 0, row0_ = 0, column0_ = 0, rows_ = 0, columns_ = 0, strip_ = 0, pad_ = 0, main_ = 0;
    };

    static bool better(const Best &a, const Best &b) {
        if (a.score != b.score) return a.score > b.score;
        return a.column != b.column ? a.column < b.column : a.row < b.row;
    }

    void find_local_end(const std::vector<std::unique_ptr<Block>> &blocks, LaneResult &result) {
        Best best;
        for (const auto &block : blocks)
            if (block->best.score > 0 && (best.score == 0 || better(block->best, best))) best = block->best;
        result.score = static_cast<int32_t>(best.score);
        if (best.score > 0) result.row_end = best.row + 1, result.column_end = best.column + 1;
    }

    /// As find_ends of the units: along the last row, then the last column.
    void find_global_end(LaneResult &result) {
        const T *last_row = top(top_value_, bands_), *last_column = left(left_value_, chunks_);
        int32_t score = pair_.free_rows_begin ? 0 : -(scoring_.open + scoring_.extend * m_), best = score, at = 0;
        for (int j = 0; j < n_; ++j) {
            score += last_row[j] - scoring_.extend;
            if (score >= best) best = score, at = j + 1;
        }
        result.score = score;
        result.row_end = m_, result.column_end = n_;
        if (pair_.free_columns_end && best > score) result.score = best, result.column_end = at;
        if (!pair_.free_rows_end) return;
        score = best = pair_.free_columns_begin ? 0 : -(scoring_.open + scoring_.extend * n_);
        at = 0;
        for (int i = 0; i < m_; ++i) {
            score += last_column[i] - scoring_.extend;
            if (score >= best) best = score, at = i + 1;
        }
        if (best > result.score || (best == result.score && m_ - at <= n_ - result.column_end)) {
            result.score = best;
            result.row_end = at, result.column_end = n_;
        }
    }

    void walk(Block &block, LaneResult &result, Buffer<uint32_t> &path) {
        const size_t columns = static_cast<size_t>(m_) + n_ + 2;
        Buffer<uint8_t> memory(GappedRows::bytes(columns));
        GappedRows gapped(memory.data(), columns);
        const uint8_t *rows = pair_.rows.codes, *letters = pair_.columns.codes;
        enum { kPaired, kInE, kInF } state = kPaired;
        int i = result.row_end, j = result.column_end;
        int64_t left = result.score;
        bool loaded = false;
        while (i > 0 && j > 0 && !(Local && state == kPaired && left == 0)) {
            if (!loaded || !block.holds(i - 1, j - 1)) {
                block.template sweep<true>((i - 1) / kBand, (j - 1) / kChunk);
                loaded = true;
            }
            int bit;
            const Masks<T, B> &cell = block.at(i - 1, j - 1, bit);
            auto has = [&](int k) { return (cell.word[k] >> bit) & 1; };
            // A gap that reached this cell goes on only if it was extended out of it.
            if (state == kInE && !has(2)) state = kPaired;
            else if (state == kInF && !has(3)) state = kPaired;
            else if (state == kPaired && (has(0) || has(1))) {
                state = has(1) ? kInF : kInE;
                left += scoring_.open;
                step_gap(state == kInE, i, j, left, gapped);
            } else if (state == kPaired) {
                gapped.add(rows + i, letters + j, 1);
                left -= scoring_.matrix[rows[i - 1] * kLetters + letters[j - 1]];
                --i, --j;
            } else {
                step_gap(state == kInE, i, j, left, gapped);
            }
        }
        if (!Local) {
            if (i > 0 && !pair_.free_rows_begin) gapped.add(rows + i, nullptr, i), i = 0;
            if (j > 0 && !pair_.free_columns_begin) gapped.add(nullptr, letters + j, j), j = 0;
        }
        result.row_begin = i, result.column_begin = j;
        if (scoring_.depth != Depth::alignment) return;
        path = Buffer<uint32_t>(static_cast<size_t>(gapped.length()) + 1);
        result.path_length = gapped.encode(scoring_, path.data(), result);
        result.path = path.data();
    }

    void step_gap(bool is_e, int &i, int &j, int64_t &left, GappedRows &gapped) {
        if (is_e) gapped.add(nullptr, pair_.columns.codes + j--, 1);
        else gapped.add(pair_.rows.codes + i--, nullptr, 1);
        left += scoring_.extend;
    }

    const Scoring &scoring_;
    const LanePair &pair_;
    int m_, n_, bands_, chunks_;
    LocalRange<T> range_;
    Buffer<T> left_value_, left_gap_;  // (chunks + 1) x m: u or H, x or E, in the column before each chunk
    Buffer<T> top_value_, top_gap_;    // (bands + 1) x n: v or H, y or F, in the row above each band
};

}  // namespace tropalign::TROPALIGN_ISA

// One pair of long sequences: blocks along anti-diagonals over threads, and an alignment in little memory.
//
// The borders of all blocks are kept (two numbers per row or column); for the path, the blocks that it crosses are
// swept again with masks, from the end back. A score alone keeps only the latest borders.
#pragma once
#include <memory>
#include <vector>

#include "../compute/parallel.hpp"
#include "ends.hpp"
#include "long_block.hpp"
#include "walk.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int B, Mode M, class Scores>
class LongPair {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    using Borders = LongBorders<T, B, M>;
    using Block = LongBlock<T, B, M, Scores>;

  public:
    /// `table`: for TableScores; else null.
    LongPair(const Scoring &scoring, const LanePair &pair, int n_threads, int64_t memory_bytes,
             const ScoreTable *table = nullptr)
        : scoring_(scoring), pair_(pair),
          borders_(scoring, pair, cut_within(scoring, pair, n_threads, static_cast<size_t>(memory_bytes)), table) {
        for (int t = 0; t < n_threads; ++t) blocks_.push_back(std::make_unique<Block>(borders_));
    }

    /// Align the pair; false if `poll` stopped it.
    bool run(const Poll &poll, LaneResult &result, Buffer<uint32_t> &path) {
        const int n_threads = static_cast<int>(blocks_.size());
        int64_t begun = 0;
        for (int d = 0; d < borders_.bands + borders_.chunks - 1; ++d) {
            const int first = std::max(0, d - borders_.chunks + 1);
            const int count = std::min(d, borders_.bands - 1) - first + 1;
            auto sweep = [&](int thread, int64_t k) {
                const int band = first + static_cast<int>(k);
                if (is_one_block()) blocks_[thread]->template sweep<true>(band, d - band);
                else blocks_[thread]->template sweep<false>(band, d - band);
            };
            if (n_threads == 1 || count == 1)
                for (int k = 0; k < count; ++k) sweep(0, k);
            else parallel(std::min(n_threads, count), count, 1, sweep, [](int64_t) { return true; });
            begun += count;
            if (!poll(begun)) return false;
        }
        result = LaneResult{};
        if constexpr (kLocal) find_local_end(result);
        else find_global_end(result);
        if (scoring_.traced() && !(kLocal && result.score == 0)) walk(result, path);
        return true;
    }

  private:
    /// Return the usual cut, or for a path that passes `memory` the cut with the least memory: larger blocks have
    /// fewer borders but more masks, which are kept for one block at a time.
    static Cut cut_within(const Scoring &scoring, const LanePair &pair, int n_threads, size_t memory) {
        auto bytes = [&](Cut cut) {
            const int columns = std::min(cut.chunk, pair.columns.length);
            return Borders::bytes(scoring, pair, cut) + n_threads * Block::bytes(cut) + Block::mask_bytes(cut, columns);
        };
        Cut cut;
        if (!scoring.traced()) return cut;
        while (bytes(cut) > memory) {
            const Cut wider{cut.strip, 2 * cut.chunk}, higher{2 * cut.strip, cut.chunk};
            const bool can_widen = cut.chunk < pair.columns.length, can_heighten = cut.strip < kMostStripRows;
            Cut best = cut;
            if (can_widen && bytes(wider) < bytes(best)) best = wider;
            if (can_heighten && bytes(higher) < bytes(best)) best = higher;
            if (best.strip == cut.strip && best.chunk == cut.chunk) break;
            cut = best;
        }
        return cut;
    }
    /// True if the directions of the only block are kept, so that it is swept once.
    bool is_one_block() const { return scoring_.traced() && borders_.bands == 1 && borders_.chunks == 1; }

    static constexpr int kMostStripRows = 4096;  // the state of a strip stays in a second-level cache

    void find_local_end(LaneResult &result) {
        typename Block::Best best;
        for (const auto &block : blocks_)
            if (block->best.score > 0 && block->best.before(best)) best = block->best;
        result.score = static_cast<int32_t>(best.score);
        if (best.score > 0) result.row_end = best.row + 1, result.column_end = best.column + 1;
    }

    void find_global_end(LaneResult &result) {
        Line<T, 1> bottom, right;
        bottom.begin(0, 0, border_value(scoring_, borders_.m, pair_.free_rows_begin));
        bottom.take(borders_.top_value(borders_.bands), 0, borders_.n, scoring_.extend, true);
        right.begin(0, 0, border_value(scoring_, borders_.n, pair_.free_columns_begin));
        if (pair_.free_rows_end) right.take(borders_.left_value(borders_.chunks), 0, borders_.m, scoring_.extend, true);
        set_end<false>(pair_, bottom, right, 0, result);
    }

    /// The directions of the cells in the form that walk_back requires; blocks are swept again when the traceback
    /// enters them.
    class Cells {
      public:
        Cells(const Scoring &scoring, Borders &borders, Block &block, bool is_loaded)
            : scoring_(scoring), borders_(borders), block_(block), is_loaded_(is_loaded) {}

        void seek(int i, int j) { i_ = i, j_ = j; }

        int diagonal_run(int i, int j) {
            const int most = std::min(i, j);
            int run = 0;
            while (run < most && !is_gap(i - run, j - run)) ++run;
            seek(i - run, j - run);
            return run;
        }

        int positive_run(int i, int j, int &left) {
            const int most = std::min(i, j);
            int run = 0;
            for (; run < most && left != 0 && !is_gap(i - run, j - run); ++run) left -= score(i - run - 1, j - run - 1);
            seek(i - run, j - run);
            return run;
        }

        bool last_wins() { return direction(i_, j_, 1); }

        int gap_length(bool is_e, int most) {
            int k = 1;
            while (k < most && (is_e ? direction(i_, j_ - k, 2) : direction(i_ - k, j_, 3))) ++k;
            return k;
        }

      private:
        bool is_gap(int i, int j) { return direction(i, j, 0); }

        int32_t score(int i, int j) const {
            if constexpr (std::is_same_v<Scores, TableScores<T, B>>) return borders_.table->template at<T>(i, j);
            return scoring_.score_of(borders_.pair.rows.codes + i, borders_.pair.columns.codes + j);
        }

        bool direction(int i, int j, int k) {
            if (!is_loaded_ || !block_.holds(i - 1, j - 1)) {
                block_.template sweep<true>((i - 1) / borders_.band_rows, (j - 1) / borders_.cut.chunk);
                is_loaded_ = true;
            }
            return block_.direction(i - 1, j - 1, k);
        }

        const Scoring &scoring_;
        Borders &borders_;
        Block &block_;
        bool is_loaded_;
        int i_ = 0, j_ = 0;
    };

    void walk(LaneResult &result, Buffer<uint32_t> &path) {
        const size_t columns = static_cast<size_t>(result.row_end) + result.column_end + 2;
        Buffer<uint8_t> memory(GappedRows::bytes(columns));
        GappedRows gapped(memory.data(), columns);
        Cells cells(scoring_, borders_, *blocks_[0], is_one_block());
        walk_back<Cells, false, M>(scoring_, pair_, cells, result, gapped);
        if (scoring_.depth != Depth::alignment) return;
        gapped.count(scoring_, result);
        path = Buffer<uint32_t>(gapped.runs());
        result.path_length = gapped.encode(path.data());
        result.path = path.data();
    }

    const Scoring &scoring_;
    const LanePair &pair_;
    Borders borders_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace tropalign::TROPALIGN_ISA

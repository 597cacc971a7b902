// One pair per call, for loops in Python: texts in, numbers and a CIGAR out, without intermediate objects.
#include <nanobind/stl/tuple.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../pairwise/band_trials.hpp"
#include "../pairwise/cpu_plan.hpp"
#include "../pairwise/interface.hpp"
#include "../pairwise/orientation.hpp"
#include "../pairwise/tile.hpp"
#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

constexpr uint8_t kNoCode = 255;
/// From this many cells on, a pair takes longer than releasing Python's lock.
constexpr int64_t kUnlockedCells = 1 << 16;
/// Largest pair that is aligned here, in cells. Larger pairs take milliseconds and need a memory limit: see
/// tropalign.pairwise.task.
constexpr int64_t kMostCells = 1 << 24;
/// Memory limit for a pair that is not short, which uses a fraction of it.
constexpr int64_t kTileBytes = int64_t{64} << 20;
/// Memory limit for a pair of similar sequences of any size; 10,000 residues at 5 % use it.
constexpr int64_t kSimilarBytes = int64_t{32} << 20;
/// If waves would take more than 1 / kWavesShare of the time of the matrix, a band is faster.
constexpr int kWavesShare = 8;
/// Pairs with fewer cells take less time than a band saves.
constexpr int64_t kBandCells = 200'000;
/// Largest buffer that a thread keeps after a call; larger ones are freed.
constexpr size_t kKeptBytes = size_t{8} << 20;

/// Return the kernels of the instruction set that TROPALIGN_ISA names now. They are kept for the next call:
/// querying the processor takes longer than aligning a pair.
const Kernels &kernels_now() {
    thread_local std::string named;
    thread_local const Kernels *kernels = nullptr;
    const char *wanted = std::getenv("TROPALIGN_ISA");
    if (!kernels || named != (wanted ? wanted : "")) {
        kernels = selected_kernels();
        named = wanted ? wanted : "";
    }
    return *kernels;
}

/// Buffers that a thread keeps from pair to pair.
struct Room {
    std::vector<uint8_t> codes[2];
    int64_t offsets[2][2];
    UnitScratch scratch;
    std::string cigar;

    /// Return the codes of a text with margins around them; no sequence if it is empty or has a byte without a
    /// code.
    Sequences read(const std::vector<uint8_t> &code_of, nb::str text, int side) {
        Py_ssize_t size = 0;
        const char *bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!bytes) PyErr_Clear();  // lone surrogates are not residues
        if (!bytes || size == 0 || size > kMostCells) return {nullptr, nullptr, 0};
        std::vector<uint8_t> &mine = codes[side];
        const size_t needed = static_cast<size_t>(size) + 2 * kCodeMargin;
        if (mine.size() < needed) mine.assign(needed, kPadCode);
        uint8_t *to = mine.data() + kCodeMargin, all = 0;
        for (Py_ssize_t k = 0; k < size; ++k) to[k] = code_of[static_cast<uint8_t>(bytes[k])], all |= to[k];
        offsets[side][0] = 0, offsets[side][1] = size;
        return {to, offsets[side], all == kNoCode ? 0 : 1};
    }
};

/// Aligns pairs of one alphabet with one scoring.
class PairAligner {
    using Row = Tuple<Any, nb::ellipsis>;

  public:
    PairAligner(Column<uint8_t> codes, const Matrix &matrix, int32_t gap_open, int32_t gap_extend, const char *mode,
                std::tuple<bool, bool, bool, bool> free_ends, int depth)
        : codes_(codes.data(), codes.data() + codes.size()),
          free_ends_{std::get<0>(free_ends), std::get<1>(free_ends), std::get<2>(free_ends), std::get<3>(free_ends)},
          scoring_(checked(matrix, gap_open, gap_extend, mode, depth)), oriented_(scoring_) {
        require(codes_.size() == 256, "codes: must have a code per byte");
        for (const uint8_t code : codes_)
            require(code == kNoCode || code < kPadCode, "codes: a code is beyond the alphabet");
        for (size_t k = 0; k < matrix.size(); ++k) most_ = std::max(most_, std::abs(int64_t{matrix.data()[k]}));
        most_ += gap_open + 2 * int64_t{gap_extend};
    }

    /// Align a pair; None for an empty text, a residue without a code, scores that may not fit, and a large pair.
    std::optional<Row> align(nb::str query, nb::str target) const {
        thread_local Room room;
        static constexpr int64_t first = 0;
        const Sequences queries = room.read(codes_, query, 0), targets = room.read(codes_, target, 1);
        if (!queries.count || !targets.count) return std::nullopt;
        const TileRequest request{queries, targets, &first, &first, 1, free_ends_, 1, kTileBytes};
        const int64_t m = queries[0].length, n = targets[0].length, cells = m * n;
        if (most_ * (2 * std::max(m, n) + 2) > INT32_MAX) return std::nullopt;
        const bool query_in_rows = longer_in_rows(m, n).query_in_rows;
        PythonPoll poll{Progress(nb::none())};
        LaneResult found;
        TileColumns columns;
        bool is_left = false;
        {
            std::optional<nb::gil_scoped_release> released;
            if (cells >= kUnlockedCells) released.emplace();
            room.scratch.stop_wanted = nullptr;
            if (cells > kMostCells)  // takes seconds even if the pair is similar
                room.scratch.stop_wanted = [&poll, timer = PollTimer()]() mutable {
                    return timer.is_due() && !poll(0);
                };
            const Kernels &kernels = kernels_now();
            const LanePair pair = lane_pair(request, 0, query_in_rows);
            const Scoring &scoring = oriented_(query_in_rows);
            if (!kernels.run_similar(scoring, pair, {kSimilarBytes, kWavesShare}, room.scratch, found) &&
                !in_band(request, room.scratch, found)) {
                is_left = cells > kMostCells;
                if (!is_left && !kernels.run_short(scoring, pair, room.scratch, found))
                    columns = align_tile(kernels, scoring_, request, [](int64_t) { return true; });
            }
        }
        poll.rethrow();
        std::optional<Row> result;
        if (!is_left)
            result = columns.score.size() ? as_tuple(columns, room.cigar) : as_tuple(found, query_in_rows, room.cigar);
        if (room.scratch.most_bytes() > kKeptBytes) room.scratch = UnitScratch();
        for (auto &codes : room.codes)
            if (codes.size() > kKeptBytes) codes = std::vector<uint8_t>();
        return result;
    }

  private:
    /// Align a pair that is similar, but not enough for waves.
    bool in_band(const TileRequest &request, UnitScratch &scratch, LaneResult &found) const {
        if (!has_bands(scoring_.mode) || request.queries[0].length * int64_t{request.targets[0].length} < kBandCells)
            return false;
        const BandTrials trials(request, oriented_, *selected_band_kernels(), kSimilarBytes);
        return trials.count() > 0 && trials.align(0, scratch, found);
    }

    static Scoring checked(const Matrix &matrix, int32_t gap_open, int32_t gap_extend, const char *mode, int depth) {
        require(depth >= 0 && depth <= 2, "depth: must be 0, 1 or 2");
        check_scoring(matrix, gap_open, gap_extend, 0);
        return Scoring(mode_named(mode), static_cast<Depth>(depth), matrix.data(), gap_open, gap_extend);
    }

    Row as_tuple(const LaneResult &found, bool query_in_rows, std::string &cigar) const {
        if (scoring_.depth == Depth::score) return nb::make_tuple(found.score);
        const int32_t begin[] = {found.row_begin, found.column_begin}, end[] = {found.row_end, found.column_end};
        const int query = query_in_rows ? 0 : 1, target = 1 - query;
        if (scoring_.depth == Depth::ends)
            return nb::make_tuple(found.score, begin[query], end[query], begin[target], end[target]);
        write_cigar(found.path, found.path_length, query_in_rows, cigar);
#define X(count) found.count,
        return nb::make_tuple(found.score, begin[query], end[query], begin[target], end[target],
                              TROPALIGN_COUNTS(X) nb::str(cigar.data(), cigar.size()));
#undef X
    }

    Row as_tuple(const TileColumns &found, std::string &cigar) const {
        LaneResult row{};
        row.score = found.score[0];
        if (scoring_.depth != Depth::score) {
            row.row_begin = found.query_start[0], row.row_end = found.query_end[0];
            row.column_begin = found.target_start[0], row.column_end = found.target_end[0];
        }
        if (scoring_.depth == Depth::alignment) {
#define X(count) row.count = found.count[0];
            TROPALIGN_COUNTS(X)
#undef X
            row.path = found.path.data(), row.path_length = static_cast<int32_t>(found.path_offsets[1]);
        }
        return as_tuple(row, true, cigar);
    }

    /// Write operations as text, such as 2=1X3=.
    static void write_cigar(const uint32_t *path, int n, bool query_in_rows, std::string &text) {
        text.clear();
        for (int k = 0; k < n; ++k) {
            char digits[12];
            char *const end = digits + sizeof(digits), *begin = end;
            for (uint32_t length = path[k] >> 4; length; length /= 10) *--begin = static_cast<char>('0' + length % 10);
            text.append(begin, end);
            const uint32_t operation = path[k] & 15;
            text += operation > 2 ? "=X"[operation - 7] : (operation == 1) == query_in_rows ? 'I' : 'D';
        }
        if (text.empty()) text = "*";
    }

    std::vector<uint8_t> codes_;
    FreeEnds free_ends_;
    const Scoring scoring_;
    const OrientedScoring oriented_;
    int64_t most_ = 1;  // maximum gain or cost per residue, as in PairOptions.check_range
};

}  // namespace
}  // namespace tropalign

void bind_pair_aligner(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<PairAligner>(m, "PairAligner", "Aligner of one pair per call; see tropalign.pairwise.single.")
        .def(nb::init<Column<uint8_t>, const Matrix &, int32_t, int32_t, const char *,
                      std::tuple<bool, bool, bool, bool>, int>(),
             array("codes"), array("matrix"), "gap_open"_a, "gap_extend"_a, "mode"_a, "free_ends"_a, "depth"_a)
        .def("align", &PairAligner::align, "query"_a, "target"_a,
             "(score, query_start, query_end, target_start, target_end, n_identical, n_similar, n_gaps, n_columns, "
             "CIGAR), as far as the depth requires; None for a pair that needs another aligner.");
}

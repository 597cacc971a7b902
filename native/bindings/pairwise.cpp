// Bindings: align_pairs; align_pieces with gap costs of two pieces and of the ends; align_next, which avoids
// earlier alignments; align_tables and align_softly, whose residues score by tables. Validation and names are in
// tropalign.pairwise.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <memory>

#include "../pairwise/interface.hpp"
#include "../pairwise/piece_tile.hpp"
#include "../pairwise/soft_tile.hpp"
#include "../pairwise/table_tile.hpp"
#include "../pairwise/tile.hpp"
#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

Dict columns_as_dict(TileColumns &&columns, Depth depth) {
    nb::dict out;
    out["score"] = to_numpy(std::move(columns.score));
    if (depth != Depth::score) {
        out["query_start"] = to_numpy(std::move(columns.query_start));
        out["query_end"] = to_numpy(std::move(columns.query_end));
        out["target_start"] = to_numpy(std::move(columns.target_start));
        out["target_end"] = to_numpy(std::move(columns.target_end));
    }
    if (depth == Depth::alignment) {
#define X(count) out["n_" #count] = to_numpy(std::move(columns.count));
        TROPALIGN_COUNTS(X)
#undef X
        out["cigar_ops"] = to_numpy(std::move(columns.path));
        out["cigar_offsets"] = to_numpy(std::move(columns.path_offsets));
    }
    out["walk_seconds"] = columns.walk_seconds;
    out["unit_seconds"] = columns.unit_seconds;
    out["useful_cells"] = columns.useful_cells;
    out["swept_cells"] = columns.swept_cells;
    out["unit_bytes"] = columns.unit_bytes;
    return out;
}

TileRequest request_of(const OwnSets &sets, const Column<int64_t> &query_index, const Column<int64_t> &target_index,
                       std::tuple<bool, bool, bool, bool> free_ends, int depth, int n_threads, int64_t memory_bytes,
                       const Progress &progress) {
    require_threads(n_threads);
    require_progress(progress);
    require(depth >= 0 && depth <= 2, "depth: must be 0, 1 or 2");
    require(memory_bytes > 0, "memory_bytes: not above 0");
    TileRequest request;
    request.queries = sets.queries().sequences(), request.targets = sets.targets().sequences();
    request.query_index = query_index.data();
    request.target_index = target_index.data();
    request.n_pairs = require_pairs(sets, query_index, target_index);
    request.free_ends = {std::get<0>(free_ends), std::get<1>(free_ends), std::get<2>(free_ends),
                         std::get<3>(free_ends)};
    request.n_threads = n_threads;
    request.memory_bytes = memory_bytes;
    return request;
}

using TrackCodes = std::optional<Column<uint8_t>>;
using TrackScores = std::optional<Matrix>;

int64_t highest_track(const TrackArguments &track) { return track.scores ? highest_of(*track.scores) : 0; }
SecondTrack track_of(const OwnSets &sets, const TrackArguments &track) {
    return {sets.track(), track.scores ? track.scores->data() : nullptr};
}

Dict align_pairs(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                 Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                 Matrix matrix, int32_t gap_open, int32_t gap_extend, const char *mode,
                 std::tuple<bool, bool, bool, bool> free_ends, int depth, int n_threads, int64_t memory_bytes,
                 Progress progress, TrackCodes query_track, TrackCodes target_track, TrackScores track_scores) {
    const TrackArguments track{query_track, target_track, track_scores};
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets, track);
    check_scoring(matrix, gap_open, gap_extend, sets.longest(), highest_track(track));
    const TileRequest request =
        request_of(sets, query_index, target_index, free_ends, depth, n_threads, memory_bytes, progress);
    auto scoring = std::make_unique<Scoring>(mode_named(mode), static_cast<Depth>(depth), matrix.data(), gap_open,
                                             gap_extend, track_of(sets, track));
    PythonPoll poll(progress);
    TileColumns columns;
    {
        nb::gil_scoped_release released;
        columns = align_tile(*selected_kernels(), *scoring, request, std::ref(poll));
    }
    poll.rethrow();
    return columns_as_dict(std::move(columns), scoring->depth);
}

/// Return the pairs of query[k] with count[k] targets from first[k] on, for each k.
std::pair<Numpy<int64_t>, Numpy<int64_t>> list_pairs(Column<int64_t> query, Column<int64_t> first,
                                                     Column<int64_t> count) {
    constexpr int64_t most = int64_t{1} << 40;
    require(query.size() == first.size() && query.size() == count.size(),
            "query, first, count: arrays of unequal lengths");
    int64_t total = 0;
    for (size_t k = 0; k < count.size(); ++k) {
        require(first(k) >= 0 && first(k) <= most && count(k) >= 0 && count(k) <= most - total,
                "first, count: a number is out of range");
        total += count(k);
    }
    Buffer<int64_t> queries(total), targets(total);
    int64_t *of_query = queries.data(), *of_target = targets.data();
    for (size_t k = 0; k < count.size(); ++k) {
        for (int64_t n = 0; n < count(k); ++n) *of_query++ = query(k), *of_target++ = first(k) + n;
    }
    return {to_numpy(std::move(queries)), to_numpy(std::move(targets))};
}

using Pieces = std::tuple<int32_t, int32_t, int32_t, int32_t>;

/// Return gap costs given as open and extend of one piece, then of the other.
PieceCosts piece_costs(const Pieces &inner, const Pieces &ends) {
    auto pieces = [](GapPiece(&out)[2], const Pieces &given) {
        std::tie(out[0].open, out[0].extend, out[1].open, out[1].extend) = given;
    };
    PieceCosts costs;
    pieces(costs.inner, inner), pieces(costs.ends, ends);
    for (const auto &some : {costs.inner, costs.ends})
        for (int p = 0; p < 2; ++p)
            require(some[p].open >= 0 && some[p].extend >= 0, "gap, end_gap: costs must be at least 0");
    return costs;
}

Dict align_pieces_python(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                         Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                         Matrix matrix, Pieces gap, Pieces end_gap, const char *mode,
                         std::tuple<bool, bool, bool, bool> free_ends, int depth, int n_threads, int64_t memory_bytes,
                         Progress progress) {
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    const PieceCosts costs = piece_costs(gap, end_gap);
    check_scoring(matrix, costs.most_open(), costs.most_extend(), sets.longest());
    const Mode how = mode_named(mode);
    const TileRequest request =
        request_of(sets, query_index, target_index, free_ends, depth, n_threads, memory_bytes, progress);
    auto letters = std::make_unique<Scoring>(Mode::local, static_cast<Depth>(depth), matrix.data(), 0, 0);
    auto scoring = std::make_unique<PieceScoring>(PieceScoring{how, OrientedScoring(*letters), costs});
    PythonPoll poll(progress);
    TileColumns columns;
    {
        nb::gil_scoped_release released;
        columns = align_pieces(*selected_piece_kernels(), *scoring, request, std::ref(poll));
    }
    poll.rethrow();
    return columns_as_dict(std::move(columns), letters->depth);
}

/// Return earlier alignments by pair, after a check that they stay within their sequences.
TakenPaths require_taken(const TileRequest &request, const Column<int64_t> &offsets, const Column<int32_t> &query_start,
                         const Column<int32_t> &target_start, const Column<int64_t> &path_offsets,
                         const Column<uint32_t> &path) {
    const auto n_taken = static_cast<int64_t>(query_start.size());
    require(static_cast<int64_t>(offsets.size()) == request.n_pairs + 1, "taken_offsets: must be one more than pairs");
    require_offsets(offsets.data(), request.n_pairs + 1, n_taken, "taken_offsets");
    require(query_start.size() == target_start.size() && path_offsets.size() == query_start.size() + 1,
            "taken_query_start, taken_target_start, path_offsets: arrays of unequal lengths");
    require_offsets(path_offsets.data(), n_taken + 1, static_cast<int64_t>(path.size()), "path_offsets");
    for (int64_t pair = 0; pair < request.n_pairs; ++pair) {
        const int64_t query_length = request.queries[request.query_index[pair]].length,
                      target_length = request.targets[request.target_index[pair]].length;
        for (int64_t a = offsets(pair); a < offsets(pair + 1); ++a) {
            int64_t query = query_start(a), target = target_start(a);
            bool is_good = query >= 0 && target >= 0;
            for (int64_t k = path_offsets(a); k < path_offsets(a + 1); ++k) {
                const uint32_t operation = path(k) & 15, length = path(k) >> 4;
                is_good &= operation == 1 || operation == 2 || operation == 7 || operation == 8;
                query += operation == 2 ? 0 : length, target += operation == 1 ? 0 : length;
            }
            require(is_good && query <= query_length && target <= target_length,
                    "path: not an alignment of the two sequences");
        }
    }
    return {offsets.data(), query_start.data(), target_start.data(), path_offsets.data(), path.data()};
}

Dict align_next_python(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                       Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                       Matrix matrix, Pieces gap, Column<int64_t> taken_offsets, Column<int32_t> taken_query_start,
                       Column<int32_t> taken_target_start, Column<int64_t> path_offsets, Column<uint32_t> path,
                       Column<int32_t> least, int depth, int n_threads, int64_t memory_bytes, Progress progress,
                       TrackCodes query_track, TrackCodes target_track, TrackScores track_scores) {
    const TrackArguments track{query_track, target_track, track_scores};
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets, track);
    const PieceCosts costs = piece_costs(gap, gap);
    check_scoring(matrix, costs.most_open(), costs.most_extend(), sets.longest(), highest_track(track));
    const TileRequest request = request_of(sets, query_index, target_index, {false, false, false, false}, depth,
                                           n_threads, memory_bytes, progress);
    require(static_cast<int64_t>(least.size()) == request.n_pairs, "least: must have a score per pair");
    require(std::all_of(least.data(), least.data() + least.size(), [](int32_t score) { return score > 0; }),
            "least: a score is not above 0");
    const NextRequest next{
        require_taken(request, taken_offsets, taken_query_start, taken_target_start, path_offsets, path), least.data()};
    auto letters = [&](Depth how) {
        return std::make_unique<Scoring>(Mode::local, how, matrix.data(), 0, 0, track_of(sets, track));
    };
    const auto whole = letters(static_cast<Depth>(depth)), score = letters(Depth::score);
    const PieceScoring scoring{Mode::local, OrientedScoring(*whole), costs};
    const PieceScoring scores{Mode::local, OrientedScoring(*score), costs};
    PythonPoll poll(progress);
    TileColumns columns;
    {
        nb::gil_scoped_release released;
        columns = align_next(*selected_piece_kernels(), scoring, scores, request, next, std::ref(poll));
    }
    poll.rethrow();
    return columns_as_dict(std::move(columns), whole->depth);
}

using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Return an item of a list as an array of this type, without a copy.
template <class Table>
Table item_of(nb::handle item, const char *name) {
    Table table;
    if (!nb::try_cast<Table>(item, table, false))
        refuse(std::string(name) + ": not a contiguous array of two dimensions");
    return table;
}

/// Return a table as native code reads it, after a check of its type and shape.
TableView table_of(const AnyTable &table, const Letters &query, const Letters &target) {
    TableView view{table.data(), TableType::int8, query.length, target.length};
    require(
        static_cast<int64_t>(table.shape(0)) == query.length && static_cast<int64_t>(table.shape(1)) == target.length,
        "tables: a shape other than the lengths of query and target");
    if (table.dtype() == nb::dtype<float>()) view.type = TableType::float32;
    else if (table.dtype() == nb::dtype<int32_t>()) view.type = TableType::int32;
    else if (table.dtype() == nb::dtype<int16_t>()) view.type = TableType::int16;
    else require(table.dtype() == nb::dtype<int8_t>(), "tables: not float32, int32, int16 or int8");
    return view;
}

Dict align_tables_python(List<AnyNumpy> tables, Column<uint8_t> query_codes, Column<int64_t> query_offsets,
                         Column<uint8_t> target_codes, Column<int64_t> target_offsets, Column<int64_t> query_index,
                         Column<int64_t> target_index, double gap_open, double gap_extend, const char *mode,
                         std::tuple<bool, bool, bool, bool> free_ends, int depth, int most, int n_threads,
                         int64_t memory_bytes, Progress progress) {
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    TableRequest request{
        request_of(sets, query_index, target_index, free_ends, depth, n_threads, memory_bytes, progress),
        {},
        mode_named(mode),
        static_cast<Depth>(depth),
        gap_open,
        gap_extend,
        most};
    require(gap_open >= 0 && gap_open <= 1e6 && gap_extend >= 0 && gap_extend <= 1e6,
            "gap_open, gap_extend: not from 0 to 1000000");
    require(most == 1 || (most > 1 && std::string_view(mode) == "local" && request.depth == Depth::alignment),
            "most: must be 1, or more for alignments in local mode");
    require(static_cast<int64_t>(tables.size()) == request.pairs.n_pairs, "tables: must have a table per pair");
    std::vector<AnyTable> arrays;  // keep the arrays alive
    for (int64_t k = 0; k < request.pairs.n_pairs; ++k) {
        arrays.push_back(item_of<AnyTable>(tables[k], "tables"));
        request.tables.push_back(
            table_of(arrays.back(), request.pairs.queries[query_index(k)], request.pairs.targets[target_index(k)]));
    }
    PythonPoll poll(progress);
    TableRows rows;
    {
        nb::gil_scoped_release released;
        rows = align_tables(*selected_table_kernels(), request, std::ref(poll));
    }
    poll.rethrow();
    Dict out = columns_as_dict(std::move(rows.columns), request.depth);
    out["pair"] = to_numpy(std::move(rows.pair));
    out["rank"] = to_numpy(std::move(rows.rank));
    out["unit"] = to_numpy(std::move(rows.unit));
    return out;
}

using WrittenTable = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Dict align_softly_python(List<AnyNumpy> tables, List<AnyNumpy> posteriors, double gap_open, double gap_extend,
                         double temperature, const char *mode, std::tuple<bool, bool, bool, bool> free_ends,
                         int n_threads, Progress progress) {
    const auto [query_start, query_end, target_start, target_end] = free_ends;
    const SoftScoring scoring{
        mode_named(mode), {query_start, query_end, target_start, target_end}, gap_open, gap_extend, temperature};
    require(gap_open >= 0 && gap_extend >= 0 && temperature > 0, "gap_open, gap_extend, temperature: out of range");
    require_threads(n_threads);
    require_progress(progress);
    require(tables.size() == posteriors.size(), "posteriors: must have an array per table");
    std::vector<SoftTable> given;
    std::vector<AnyTable> read;  // keep the arrays alive
    std::vector<WrittenTable> written;
    for (size_t k = 0; k < tables.size(); ++k) {
        const auto &from = read.emplace_back(item_of<AnyTable>(tables[k], "tables"));
        const auto &to = written.emplace_back(item_of<WrittenTable>(posteriors[k], "posteriors"));
        const bool is_double = from.dtype() == nb::dtype<double>();
        require(is_double || from.dtype() == nb::dtype<float>(), "tables: not float32 or float64");
        require(to.dtype() == from.dtype() && to.shape(0) == from.shape(0) && to.shape(1) == from.shape(1),
                "posteriors: another type or shape than the table");
        require(from.size() > 0 && from.shape(0) < (1u << 30) && from.shape(1) < (1u << 30),
                "tables: empty, or too large");
        require(to.data() != from.data(), "posteriors: the same memory as the table");
        given.push_back({from.data(), to.data(), is_double, static_cast<int32_t>(from.shape(0)),
                         static_cast<int32_t>(from.shape(1))});
    }
    std::vector<SoftSums> sums(given.size());
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        align_softly(*selected_soft_kernels(), given, scoring, n_threads, std::ref(poll), sums);
    }
    poll.rethrow();
    std::vector<double> log_z, n_gaps, gap_residues;
    for (const SoftSums &one : sums)
        log_z.push_back(one.log_z), n_gaps.push_back(one.n_gaps), gap_residues.push_back(one.gap_residues);
    Dict out;
    out["log_z"] = to_numpy(std::move(log_z));
    out["n_gaps"] = to_numpy(std::move(n_gaps));
    out["gap_residues"] = to_numpy(std::move(gap_residues));
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_pairwise(nb::module_ &m) {
    using namespace tropalign;
    m.def("align_pairs", &align_pairs, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap_open"_a,
          "gap_extend"_a, "mode"_a, "free_ends"_a, "depth"_a, "n_threads"_a, "memory_bytes"_a,
          "progress"_a.none() = nb::none(), array("query_track").none() = nb::none(),
          array("target_track").none() = nb::none(), array("track_scores").none() = nb::none(),
          "Align each pair (query_index[k], target_index[k]); see tropalign.pairwise. Scores of a second track, whose "
          "codes are as many as the first's, are added.");
    m.def("list_pairs", &list_pairs, array("query"), array("first"), array("count"),
          "List query and target indices of runs of pairs: query[k] with count[k] targets from first[k] on.");
    m.def("align_pieces", &align_pieces_python, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap"_a, "end_gap"_a,
          "mode"_a, "free_ends"_a, "depth"_a, "n_threads"_a, "memory_bytes"_a, "progress"_a.none() = nb::none(),
          "Align pairs with gaps that cost the lesser of two pieces (open, extend, open, extend), and other costs at "
          "the ends.");
    m.def("align_next", &align_next_python, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap"_a,
          array("taken_offsets"), array("taken_query_start"), array("taken_target_start"), array("path_offsets"),
          array("path"), array("least"), "depth"_a, "n_threads"_a, "memory_bytes"_a, "progress"_a.none() = nb::none(),
          array("query_track").none() = nb::none(), array("target_track").none() = nb::none(),
          array("track_scores").none() = nb::none(),
          "Find the best local alignment of each pair that reuses no residue pair of earlier ones; see "
          "tropalign.pairwise.");
    m.def("align_tables", &align_tables_python, "tables"_a, array("query_codes"), array("query_offsets"),
          array("target_codes"), array("target_offsets"), array("query_index"), array("target_index"), "gap_open"_a,
          "gap_extend"_a, "mode"_a, "free_ends"_a, "depth"_a, "most"_a, "n_threads"_a, "memory_bytes"_a,
          "progress"_a.none() = nb::none(),
          "Align pairs whose residues score by tables, float32, int32, int16 or int8 of shape (query, target): up to "
          "`most` alignments each. Scores are multiples of `unit`.");
    m.def("align_softly", &align_softly_python, "tables"_a, "posteriors"_a, "gap_open"_a, "gap_extend"_a,
          "temperature"_a, "mode"_a, "free_ends"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Sum exp(score / temperature) over all alignments by each table, float32 or float64, and write the "
          "probabilities of pairs to `posteriors`, arrays of the same types and shapes.");
}

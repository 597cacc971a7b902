// Bindings: the best targets of queries.
#include "../pairwise/best_targets.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>

#include "../pairwise/interface.hpp"
#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Longest target for the lanes of groups and units; longer ones are aligned alone elsewhere.
constexpr int64_t kLongestRankedTarget = 1 << 16;

using Positions = std::optional<Array<int32_t, 2>>;

/// Scores by position of queries, with the terms of a sweep; if scoring.step_fits8, the terms fit 8 bits.
class OwnPositions {
  public:
    OwnPositions(const Array<int32_t, 2> &given, const OwnBatch &queries, const Scoring &scoring)
        : steps_(given.size()), wide_steps_(2 * given.size()),
          scores_{given.data(), steps_.data(), wide_steps_.data(), queries.sequences().codes} {
        const int32_t shift = scoring.step[0] - scoring.matrix[0];  // of terms against scores
        for (size_t k = 0; k < given.size(); ++k) {
            const int32_t score = k % kLetters == kPadCode ? scoring.lowest : given.data()[k];
            const int32_t term = std::max(score + shift, scoring.never);
            const auto low = static_cast<int8_t>(term);
            const int32_t rest = (term - low) / 256;
            steps_[k] = low;
            int8_t *wide = wide_steps_.data() + k / kLetters * 2 * kLetters + k % kLetters;
            wide[0] = low, wide[kLetters] = static_cast<int8_t>(rest);
            if (rest < INT8_MIN || rest > INT8_MAX) scores_.step16 = nullptr;
        }
    }
    const PositionScores *get() const { return &scores_; }

  private:
    std::vector<int8_t> steps_, wide_steps_;
    PositionScores scores_;
};

/// Return a scoring whose extremes are those of scores by position, after a check of these.
std::unique_ptr<Scoring> extremes_of(const Array<int32_t, 2> &positions, const Array<int32_t, 2> &reverse, Mode mode,
                                     int32_t gap_open, int32_t gap_extend, int64_t n_residues, int64_t longest) {
    for (const auto *given : {&positions, &reverse})
        require(static_cast<int64_t>(given->shape(0)) == n_residues && given->shape(1) == kLetters,
                "positions: must have a row of 32 scores per residue of the queries");
    require(gap_open >= 0 && gap_extend >= 0, "gap_open, gap_extend: costs must be at least 0");
    int64_t lowest = -1, highest = 0;
    for (const auto *given : {&positions, &reverse})
        for (size_t k = 0; k < given->size(); ++k) {
            lowest = std::min<int64_t>(lowest, given->data()[k]),
            highest = std::max<int64_t>(highest, given->data()[k]);
        }
    if ((std::max(-lowest, highest) + 4 * int64_t{gap_open} + 2 * int64_t{gap_extend}) * (2 * longest + 2) > 1 << 30)
        refuse("positions, gap_open, gap_extend: scores of sequences of " + std::to_string(longest) +
               " residues may exceed 1073741824");
    std::vector<int32_t> scores(kLetters * kLetters, 0);
    scores[0] = static_cast<int32_t>(highest), scores[1] = static_cast<int32_t>(lowest);
    return std::make_unique<Scoring>(mode, Depth::score, scores.data(), gap_open, gap_extend);
}

Dict best_targets_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets,
                     std::optional<Column<uint8_t>> reverse_codes, Column<uint8_t> target_codes,
                     Column<int64_t> target_offsets, std::tuple<int64_t, int64_t> span, bool skips_self, int64_t most,
                     Array<int32_t, 2> least_scores, Column<int32_t> class_of_target, Matrix matrix, int32_t gap_open,
                     int32_t gap_extend, const char *mode, std::tuple<bool, bool, bool, bool> free_ends, int n_threads,
                     int64_t memory_bytes, Progress progress, Positions positions, Positions reverse_positions) {
    require_threads(n_threads);
    require_progress(progress);
    require(memory_bytes > 0, "memory_bytes: not above 0");
    require(most >= 1, "most: below 1");
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    std::unique_ptr<OwnBatch> own_reverse;
    if (reverse_codes)
        own_reverse = std::make_unique<OwnBatch>(*reverse_codes, query_offsets, "reverse_codes", "query_offsets");
    require(sets.targets().longest() <= kLongestRankedTarget, "target_offsets: a target is longer than 65536");
    check_scoring(matrix, gap_open, gap_extend, sets.longest());
    require(!reverse_positions || (positions && reverse_codes),
            "reverse_positions: without positions or reverse_codes");
    require(!positions || reverse_positions.has_value() == reverse_codes.has_value(),
            "reverse_positions: missing for reverse_codes");
    BestRequest request;
    request.queries = sets.queries().sequences(), request.targets = sets.targets().sequences();
    const Sequences reverse = own_reverse ? own_reverse->sequences() : Sequences{};
    request.reverse = own_reverse ? &reverse : nullptr;
    std::tie(request.first, request.last) = span;
    require(request.first >= 0 && request.first <= request.last && request.last <= request.queries.count,
            "span: not within the queries");
    require(request.targets.count <= INT32_MAX, "target_offsets: too many targets");
    request.skips_self = skips_self;
    request.most = most;
    const auto n_classes = static_cast<int64_t>(least_scores.shape(1));
    require(static_cast<int64_t>(least_scores.shape(0)) == request.last - request.first,
            "least_scores: must have a row per query of the span");
    require(n_classes >= 1, "least_scores: must have at least one class");
    require(static_cast<int64_t>(class_of_target.size()) == request.targets.count,
            "class_of_target: must have a class per target");
    require(std::all_of(class_of_target.data(), class_of_target.data() + class_of_target.size(),
                        [n_classes](int32_t k) { return k >= 0 && k < n_classes; }),
            "class_of_target: a class has no column in least_scores");
    request.least_scores = least_scores.data(), request.n_classes = n_classes;
    request.class_of_target = class_of_target.data();
    request.free_ends = {std::get<0>(free_ends), std::get<1>(free_ends), std::get<2>(free_ends),
                         std::get<3>(free_ends)};
    request.n_threads = n_threads;
    request.memory_bytes = memory_bytes;
    std::unique_ptr<Scoring> scoring;
    std::optional<OwnPositions> own_positions, own_reverse_positions;
    if (positions) {
        scoring = extremes_of(*positions, reverse_positions ? *reverse_positions : *positions, mode_named(mode),
                              gap_open, gap_extend, static_cast<int64_t>(query_codes.size()), sets.longest());
        request.positions = own_positions.emplace(*positions, sets.queries(), *scoring).get();
        if (reverse_positions)
            request.reverse_positions = own_reverse_positions.emplace(*reverse_positions, *own_reverse, *scoring).get();
    } else {
        scoring = std::make_unique<Scoring>(mode_named(mode), Depth::score, matrix.data(), gap_open, gap_extend);
    }
    PythonPoll poll(progress);
    BestTargets found;
    {
        nb::gil_scoped_release released;
        found = best_targets(*selected_kernels(), *selected_group_kernels(), *scoring, request, std::ref(poll));
    }
    poll.rethrow();
    nb::dict out;
    out["query"] = to_numpy(std::move(found.query));
    out["target"] = to_numpy(std::move(found.target));
    out["score"] = to_numpy(std::move(found.score));
    out["strand"] = to_numpy(std::move(found.strand));
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_best_targets(nb::module_ &m) {
    using namespace tropalign;
    m.def("best_targets", &best_targets_of, array("query_codes"), array("query_offsets"),
          nb::arg("reverse_codes").noconvert().none(), array("target_codes"), array("target_offsets"), "span"_a,
          "skips_self"_a, "most"_a, array("least_scores"), array("class_of_target"), array("matrix"), "gap_open"_a,
          "gap_extend"_a, "mode"_a, "free_ends"_a, "n_threads"_a, "memory_bytes"_a, "progress"_a.none() = nb::none(),
          nb::arg("positions").noconvert().none() = nb::none(),
          nb::arg("reverse_positions").noconvert().none() = nb::none(),
          "Find the best targets of each query, whose residues score by `positions`, int32 of shape (residues, 32), in "
          "place of the matrix if it is given; see tropalign.pairwise.");
}

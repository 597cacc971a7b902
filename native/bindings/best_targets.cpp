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

Dict best_targets_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets,
                     std::optional<Column<uint8_t>> reverse_codes, Column<uint8_t> target_codes,
                     Column<int64_t> target_offsets, std::tuple<int64_t, int64_t> span, bool skips_self, int64_t most,
                     Array<int32_t, 2> least_scores, Column<int32_t> class_of_target, Matrix matrix, int32_t gap_open,
                     int32_t gap_extend, const char *mode, std::tuple<bool, bool, bool, bool> free_ends, int n_threads,
                     int64_t memory_bytes, Progress progress) {
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
    auto scoring = std::make_unique<Scoring>(mode_named(mode), Depth::score, matrix.data(), gap_open, gap_extend);
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
          "Find the best targets of each query; see tropalign.pairwise.");
}

// Bindings: whole searches of models against a block of targets, with hits as columns.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "../profiles/pipeline.hpp"
#include "check.hpp"
#include "hit_columns.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// f1, f2, f3, bias_filter, null2, seed.
using OptionNumbers = std::tuple<double, double, double, bool, bool, uint32_t>;

/// E, Z, T, n_before, is_scan.
using ReportingNumbers = std::tuple<double, double, double, int64_t, bool>;
const ReportingNumbers kEverything{HUGE_VAL, 0, -HUGE_VAL, 0, false};

PipelineOptions options_of(const OptionNumbers &numbers, const ReportingNumbers &reporting) {
    PipelineOptions options;
    std::tie(options.f1, options.f2, options.f3, options.bias_filter, options.domains.null2, options.domains.seed) =
        numbers;
    for (const double f : {options.f1, options.f2, options.f3}) require(f >= 0, "options: must be P-values");
    Reporting &own = options.reporting;
    std::tie(own.E, own.Z, own.T, own.n_before, own.is_scan) = reporting;
    require(own.E >= 0 && own.Z >= 0 && !std::isnan(own.T), "reporting: not a valid threshold");
    require(own.n_before >= 0 && own.n_before <= int64_t{1} << 60, "reporting: not a valid number of targets");
    return options;
}

/// Models, kept alive while native code uses them.
class HeldModels {
  public:
    explicit HeldModels(const List<SearchModel> &models) {
        for (nb::handle item : models) {
            require(nb::isinstance<SearchModel>(item), "models: must be ProfileModels");
            objects_.push_back(nb::borrow(item));
            models_.push_back(nb::cast<const SearchModel *>(item));
        }
    }
    SearchModels all() const { return models_; }

  private:
    std::vector<nb::object> objects_;
    std::vector<const SearchModel *> models_;
};

nb::object passed_counts(const std::vector<Passed> &passed) {
    std::vector<int64_t> values;
    for (const Passed &row : passed) values.insert(values.end(), row.begin(), row.end());
    return to_numpy(std::move(values), std::array<size_t, 2>{passed.size(), std::tuple_size_v<Passed>});
}

/// Return all hits, sorted by model and target.
ArrayDict to_python(SearchResult result) {
    std::vector<int32_t> model;
    std::vector<TargetHit> hits;
    for (size_t k = 0; k < result.hits.size(); ++k) {
        model.insert(model.end(), result.hits[k].size(), static_cast<int32_t>(k));
        std::ranges::move(result.hits[k], std::back_inserter(hits));
    }
    ArrayDict out = hit_columns(hits);
    out["model"] = to_numpy(std::move(model));
    out["passed_by_model"] = passed_counts(result.by_model);
    out["passed_by_target"] = passed_counts(result.by_target);
    return out;
}

ArrayDict search(List<SearchModel> models, const TargetBlock &block, OptionNumbers numbers, int n_threads,
                 Progress progress, ReportingNumbers reporting) {
    require_threads(n_threads);
    require_progress(progress);
    const PipelineOptions options = options_of(numbers, reporting);
    const HeldModels held(models);
    PythonPoll poll(progress);
    SearchResult result;
    {
        nb::gil_scoped_release released;
        result = search_block(held.all(), block, options, n_threads, std::ref(poll));
    }
    poll.rethrow();
    return to_python(std::move(result));
}

std::vector<Survivors> survivors_of(size_t n_models, const TargetBlock &block, const Column<int32_t> &model,
                                    const Column<int32_t> &target, const Column<float> &msv_nats,
                                    const Column<float> &viterbi_nats) {
    const size_t n = model.size();
    require_below(model.data(), n, static_cast<int64_t>(n_models), "model");
    require(target.size() == n && msv_nats.size() == n, "model, target, msv_nats: unequal lengths");
    require_below(target.data(), n, block.size(), "target");
    require(viterbi_nats.size() == n || viterbi_nats.size() == 0, "viterbi_nats: must have none, or one per target");
    std::vector<Survivors> survivors(n_models);
    for (size_t k = 0; k < n; ++k) {
        require(block.length(target(k)) > 0, "target: a sequence is empty");
        require(!std::isnan(msv_nats(k)), "msv_nats: not a number");
        require(viterbi_nats.size() == 0 || !std::isnan(viterbi_nats(k)), "viterbi_nats: not a number");
        Survivors &own = survivors[static_cast<size_t>(model(k))];
        own.targets.push_back(target(k));
        own.msv_nats.push_back(msv_nats(k));
        if (viterbi_nats.size()) own.viterbi_nats.push_back(viterbi_nats(k));
    }
    return survivors;
}

ArrayDict finish(List<SearchModel> models, const TargetBlock &block, Column<int32_t> model, Column<int32_t> target,
                 Column<float> msv_nats, Column<float> viterbi_nats, OptionNumbers numbers, int n_threads,
                 Progress progress, ReportingNumbers reporting) {
    require_threads(n_threads);
    require_progress(progress);
    const PipelineOptions options = options_of(numbers, reporting);
    const HeldModels held(models);
    std::vector<Survivors> survivors = survivors_of(held.all().size(), block, model, target, msv_nats, viterbi_nats);
    PythonPoll poll(progress);
    SearchResult result;
    {
        nb::gil_scoped_release released;
        result = finish_block(held.all(), block, std::move(survivors), options, n_threads, std::ref(poll));
    }
    poll.rethrow();
    return to_python(std::move(result));
}

}  // namespace
}  // namespace tropalign

void bind_profile_search(nb::module_ &m) {
    using namespace tropalign;
    m.def("search_block", &search, "models"_a, "block"_a, "options"_a, "n_threads"_a, "progress"_a = nb::none(),
          "reporting"_a = kEverything,
          "Search all targets of the block with each model; returns columns of hits and domains, and the numbers that "
          "passed each filter.");
    m.def("finish_block", &finish, "models"_a, "block"_a, array("model"), array("target"), array("msv_nats"),
          array("viterbi_nats"), "options"_a, "n_threads"_a, "progress"_a = nb::none(), "reporting"_a = kEverything,
          "Like search_block, for targets that passed the MSV filter, with Viterbi scores if known (else none).");
}

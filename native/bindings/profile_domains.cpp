// Bindings: the definition of domains in a search, and its single steps.
#include "../profiles/domains.hpp"
#include "../profiles/lengths.hpp"
#include "../profiles/traces.hpp"
#include "check.hpp"
#include "hit_columns.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Return members of all items as an array of n columns.
template <class Item, class T, size_t n>
nb::object table(const std::vector<Item> &items, const std::array<T Item::*, n> &members) {
    std::vector<T> values;
    for (const Item &item : items)
        for (const auto member : members) values.push_back(item.*member);
    return to_numpy(std::move(values), std::array<size_t, 2>{items.size(), n});
}

Numpy<int32_t> regions_of(Column<float> begin, Column<float> end, Column<float> homology) {
    require(begin.size() >= 1 && begin.size() == end.size() && end.size() == homology.size(),
            "begin, end, homology: must have the same length, above 0");
    DomainPosteriors posteriors;
    posteriors.begin.assign(begin.data(), begin.data() + begin.size());
    posteriors.end.assign(end.data(), end.data() + end.size());
    posteriors.homology.assign(homology.data(), homology.data() + homology.size());
    std::vector<int32_t> rows;
    const std::vector<Region> regions = find_regions(posteriors, {});
    for (const Region &region : regions) rows.insert(rows.end(), {region.begin, region.end, region.is_clustered});
    return to_numpy(std::move(rows), std::array<size_t, 2>{regions.size(), 3});
}

Tuple<Numpy<int32_t>, Numpy<float>> traces_of(const SearchModel &model, const TargetBlock &block, int32_t target,
                                              int32_t begin, int32_t end, int32_t n_traces, uint32_t seed) {
    require(target >= 0 && target < block.size(), "target: not in the block");
    require(begin >= 0 && begin < end && end <= block.length(target), "begin, end: empty or beyond the target");
    require(n_traces >= 1 && n_traces <= 1'000'000, "n_traces: outside of 1 to 1000000");
    std::vector<Segment> segments;
    std::vector<float> scores(end - begin);
    {
        nb::gil_scoped_release released;
        TraceRandom random(seed);
        const MatrixRegion region{block.codes(target) + begin, end - begin, multihit_odds(block.length(target))};
        FullMatrices matrices;
        matrices.fill(model, {&region, 1});
        draw_traces(model, matrices[0], region, begin, n_traces, random, segments, scores.data());
    }
    constexpr std::array members{&Segment::trace, &Segment::begin, &Segment::end, &Segment::model_begin,
                                 &Segment::model_end};
    return nb::make_tuple(table(segments, members), to_numpy(std::move(scores)));
}

Tuple<Numpy<int32_t>, Numpy<float>> clusters_of(Array<int32_t, 2> segments, int32_t n_traces) {
    require(segments.shape(1) == 5, "segments: must have trace, begin, end, model_begin and model_end");
    require(n_traces >= 1, "n_traces: below 1");
    std::vector<Segment> chosen(segments.shape(0));
    int32_t last = 0;
    for (size_t k = 0; k < chosen.size(); ++k) {
        const auto at = [&](size_t column) { return segments(k, column); };
        Segment &s = chosen[k] = {at(0), at(1), at(2), at(3), at(4)};
        require(s.trace >= last && s.trace < n_traces, "segments: traces descend, or there are more than n_traces");
        require(s.begin >= 0 && s.begin < s.end && s.end <= kLongestTarget, "segments: empty or beyond any target");
        require(s.model_begin >= 0 && s.model_begin < s.model_end && s.model_end <= 1'000'000,
                "segments: empty or beyond any model");
        last = s.trace;
    }
    std::vector<Cluster> clusters;
    {
        nb::gil_scoped_release released;
        clusters = cluster_segments(chosen, n_traces, {});
    }
    constexpr std::array members{&Cluster::begin, &Cluster::end, &Cluster::model_begin, &Cluster::model_end};
    return nb::make_tuple(table(clusters, members), table(clusters, std::array{&Cluster::probability}));
}

ArrayDict domains_of(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets, uint32_t seed,
                     bool null2) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    const Targets chosen(targets.data(), targets.size());
    std::vector<TargetHit> hits;
    {
        nb::gil_scoped_release released;
        std::vector<ParsedTarget> parsed(chosen.size());
        forward_parse(model, block, chosen, parsed.data());
        DomainOptions options;
        options.seed = seed, options.null2 = null2;
        find_domains(model, block, chosen, parsed.data(), options, hits);
    }
    return hit_columns(hits);
}

}  // namespace
}  // namespace tropalign

void bind_profile_domains(nb::module_ &m) {
    using namespace tropalign;
    nb::module_ testing = nb::cast<nb::module_>(m.attr("testing"));
    testing.def("find_regions", &regions_of, array("begin"), array("end"), array("homology"),
                "Return regions with domains: begin, end and whether they are clustered, int32 (n, 3).");
    m.def("trace_segments", &traces_of, "model"_a, "block"_a, "target"_a, "begin"_a, "end"_a, "n_traces"_a = 200,
          "seed"_a = 42,
          "Return domains of stochastic traces of a region (trace, begin, end, model_begin, model_end), int32 (n, 5); "
          "and the null2 score of each residue, float32.");
    testing.def("cluster_segments", &clusters_of, array("segments"), "n_traces"_a,
                "Return envelopes of domains of traces: begin, end, model_begin, model_end, int32 (n, 4); and their "
                "probabilities, float32 (n, 1).");
    m.def("find_domains", &domains_of, "model"_a, "block"_a, array("targets"), "seed"_a = 42, "null2"_a = true,
          "Return the hits of targets as columns, assuming that the targets passed all filters.");
}

#include "domains.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "../simd/denormals.hpp"
#include "envelope.hpp"
#include "float_sums.hpp"
#include "regions.hpp"
#include "target_scores.hpp"
#include "traces.hpp"

namespace tropalign {
namespace {

/// A target during the search for its domains.
struct Found {
    int32_t target = 0;
    float forward_nats = 0;
    TargetHit hit;
    std::vector<Region> regions;
    std::vector<std::vector<Cluster>> clusters;  ///< Clusters of each region with several domains.
    std::vector<float> null2;                    ///< By residue: logarithms of odds. Zero outside of domains.
};

/// The target and the region from which an envelope comes.
struct Origin {
    size_t found, region;
};

struct DomainWork {
    const SearchModel &model;
    const TargetBlock &block;
    const DomainOptions &options;
    TraceRandom any_random;  ///< Continues from region to region if the seed is 0.
    std::vector<Found> found;
    std::vector<Envelope> envelopes;  ///< Target by target, from left to right within a region.
    std::vector<Origin> origins;
    std::vector<EnvelopeResult> results;

    const Region &region(const Origin &origin) const { return found[origin.found].regions[origin.region]; }
};

void find_all_regions(DomainWork &work, Targets targets, ParsedTarget *parsed) {
    backward_parse(work.model, work.block, targets, parsed);
    DomainPosteriors posteriors;
    for (size_t k = 0; k < targets.size(); ++k) {
        if (work.block.length(targets[k]) == 0) continue;
        domain_posteriors(work.block, targets[k], parsed[k], posteriors);
        parsed[k].forward = {}, parsed[k].backward = {};
        if (posteriors.overflows) continue;
        Found found{targets[k], parsed[k].forward_nats, {}, find_regions(posteriors, work.options.regions), {}, {}};
        if (found.regions.empty()) continue;
        found.hit.target = targets[k];
        found.hit.n_expected = posteriors.n_expected;
        found.hit.n_regions = static_cast<int32_t>(found.regions.size());
        work.found.push_back(std::move(found));
    }
}

/// Return the regions that may hold several domains, the longest first, so that those in the same register end
/// together.
std::vector<Origin> clustered_regions(const DomainWork &work) {
    std::vector<Origin> regions;
    for (size_t f = 0; f < work.found.size(); ++f)
        for (size_t r = 0; r < work.found[f].regions.size(); ++r)
            if (work.found[f].regions[r].is_clustered) regions.push_back({f, r});
    std::ranges::stable_sort(regions, std::greater(),
                             [&](const Origin &origin) { return work.region(origin).length(); });
    return regions;
}

/// Find the domains of a clustered region, and null2 of its residues.
void resolve(DomainWork &work, const Origin &origin, const MatrixRegion &matrix_region, const FullMatrix &matrix) {
    Found &found = work.found[origin.found];
    const Region &region = work.region(origin);
    TraceRandom seeded(work.options.seed);
    std::vector<Segment> segments;
    draw_traces(work.model, matrix, matrix_region, region.begin, work.options.n_traces,
                work.options.seed ? seeded : work.any_random, segments, found.null2.data() + region.begin);
    found.clusters[origin.region] = cluster_segments(segments, work.options.n_traces, work.options.clusters);
}

void resolve_all(DomainWork &work) {
    const std::vector<Origin> regions = clustered_regions(work);
    FullMatrices matrices;
    for (size_t first = 0, last; first < regions.size(); first = last) {
        const int most = FullMatrices::most_regions(work.model.plain().M, work.region(regions[first]).length());
        last = std::min(first + most, regions.size());
        std::vector<MatrixRegion> together;
        for (size_t k = first; k < last; ++k) {
            const int32_t target = work.found[regions[k].found].target;
            const Region &region = work.region(regions[k]);
            together.push_back(
                {work.block.codes(target) + region.begin, region.length(), multihit_odds(work.block.length(target))});
        }
        matrices.fill(work.model, together);
        for (size_t k = first; k < last; ++k) resolve(work, regions[k], together[k - first], matrices[k - first]);
    }
}

void find_all_envelopes(DomainWork &work) {
    for (Found &found : work.found) {
        found.null2.assign(work.block.length(found.target), 0.0f);
        found.clusters.resize(found.regions.size());
    }
    resolve_all(work);
    for (size_t f = 0; f < work.found.size(); ++f) {
        Found &found = work.found[f];
        for (size_t r = 0; r < found.regions.size(); ++r) {
            const Region &region = found.regions[r];
            const auto add = [&](int32_t begin, int32_t end, bool with_null2) {
                work.envelopes.push_back({found.target, begin, end, with_null2}), work.origins.push_back({f, r});
            };
            if (!region.is_clustered) add(region.begin, region.end, true);
            for (const Cluster &cluster : found.clusters[r]) add(cluster.begin, cluster.end, false);
            found.hit.n_clustered += region.is_clustered;
        }
    }
}

/// Rescore all envelopes, sorted by length, so that those in the same register end together.
void rescore_all(DomainWork &work) {
    std::vector<uint32_t> order(work.envelopes.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto length = [&](uint32_t k) { return work.envelopes[k].end - work.envelopes[k].begin; };
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return length(a) > length(b); });
    std::vector<Envelope> sorted;
    for (const uint32_t k : order) sorted.push_back(work.envelopes[k]);
    std::vector<EnvelopeResult> results(sorted.size());
    rescore_envelopes(work.model, work.block, sorted, results.data());
    work.results.resize(results.size());
    for (size_t k = 0; k < order.size(); ++k) work.results[order[k]] = std::move(results[k]);
}

/// Add a rescored domain to its target.
void add_domain(Found &found, const Envelope &envelope, EnvelopeResult &result, const uint8_t *codes) {
    DomainHit &domain = result.hit;
    if (envelope.with_null2)
        for (int32_t i = envelope.begin; i < envelope.end; ++i) found.null2[i] = result.null2[codes[i]];
    else
        for (int32_t i = envelope.begin; i < envelope.end; ++i) domain.correction_nats += found.null2[i];
    found.hit.domains.push_back(std::move(domain));
}

void join_domains(DomainWork &work) {
    Origin last{};
    int32_t last_end = 0;
    for (size_t k = 0; k < work.envelopes.size(); ++k) {
        const Envelope &envelope = work.envelopes[k];
        const Origin origin = work.origins[k];
        if (k == 0 || origin.found != last.found || origin.region != last.region) last_end = 0;
        last = origin;
        Found &found = work.found[origin.found];
        ++found.hit.n_envelopes;
        found.hit.n_overlaps += envelope.begin < last_end;
        if (work.results[k].is_dropped) continue;
        add_domain(found, envelope, work.results[k], work.block.codes(found.target));
        last_end = envelope.end;
    }
}

}  // namespace

void find_domains(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *parsed,
                  const DomainOptions &options, std::vector<TargetHit> &out) {
    const DenormalsAsZero guard;
    const uint32_t seed = options.seed ? options.seed : std::random_device()();
    DomainWork work{model, block, options, TraceRandom(seed), {}, {}, {}, {}};
    find_all_regions(work, targets, parsed);
    find_all_envelopes(work);
    rescore_all(work);
    join_domains(work);
    for (Found &found : work.found) {
        if (found.hit.domains.empty()) continue;
        const float null2 = compensated_sum(found.null2, found.null2.size());
        score_target(model.plain(), {found.forward_nats, null2, block.length(found.target)}, options.null2, found.hit);
        out.push_back(std::move(found.hit));
    }
}

}  // namespace tropalign

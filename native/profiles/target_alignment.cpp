#include "target_alignment.hpp"

#include <algorithm>
#include <mutex>
#include <type_traits>

#include "../compute/parallel.hpp"
#include "../simd/denormals.hpp"
#include "envelope_units.hpp"

namespace tropalign {
namespace {

/// Targets that a thread takes at a time: enough to fill vectors with equal lengths, few enough that all threads
/// end together.
constexpr size_t kRunTargets = 32;

/// Write posteriors and positions of a target's residues, from its path and the residues before and after it.
void write_places(const EnvelopeUnit &unit, int lane, int width, const std::vector<PathStep> &path,
                  const ResiduePlaces &out) {
    const int32_t L = unit.lanes[lane].L, M = unit.tables->M;
    for (const PathStep &step : path) {
        if (step.state == 'D') continue;
        out.places[step.i - 1] = step.state == 'M' ? step.k : -step.k;
        out.posteriors[step.i - 1] = step.posterior;
    }
    for (int32_t i = 1; i < path.back().i; ++i) {
        out.places[i - 1] = 0;
        out.posteriors[i - 1] = outside_posterior(unit, lane, width, i, kPosteriorN);
    }
    for (int32_t i = path.front().i + 1; i <= L; ++i) {
        out.places[i - 1] = -M;
        out.posteriors[i - 1] = outside_posterior(unit, lane, width, i, kPosteriorC);
    }
}

/// True if a lane's result of a pass is valid. DenormalsOfPass: how that pass treated denormals.
template <class DenormalsOfPass>
bool holds(const EnvelopeLane &lane) {
    return lane.in_range && (std::is_same_v<DenormalsOfPass, DenormalsKept> || !lane.has_own_scales);
}

/// Run one pass; targets without a valid result are added to `left`.
template <class DenormalsOfPass>
bool align_all(const SearchModel &model, const TargetBlock &block, Targets targets, int n_threads,
               const ResiduePlaces &out, std::vector<int32_t> &left, const Poll &poll) {
    std::vector<int32_t> order(targets.begin(), targets.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return block.length(a) > block.length(b); });
    std::mutex mutex;
    const auto work = [&](int, int64_t run) {
        const DenormalsOfPass guard;
        thread_local EnvelopeWork memory;
        std::vector<Envelope> envelopes;
        const auto begin = static_cast<size_t>(run) * kRunTargets, end = std::min(begin + kRunTargets, order.size());
        for (size_t k = begin; k < end; ++k) envelopes.push_back({order[k], 0, block.length(order[k]), false});
        compute_envelopes(
            model, block, envelopes, memory, [](int32_t) -> float * { return nullptr; },
            [&](const EnvelopeUnit &unit, int lane, int width, int32_t k) {
                const int32_t target = envelopes[static_cast<size_t>(k)].target;
                if (!holds<DenormalsOfPass>(unit.lanes[lane])) {
                    std::lock_guard lock(mutex);
                    left.push_back(target);
                    return;
                }
                walk_back(unit, lane, width, memory.path);
                const ptrdiff_t at = block.codes(target) - block.codes(0);
                write_places(unit, lane, width, memory.path, {out.places + at, out.posteriors + at});
            });
    };
    const size_t n_runs = (order.size() + kRunTargets - 1) / kRunTargets;
    return parallel(n_threads, static_cast<int64_t>(n_runs), 1, work, poll);
}

}  // namespace

/// The first pass treats denormal floats as zeros, and so is faster by a third. Zeros change a posterior only if rows
/// have their own factors in Backward, as in proteins of two domains: otherwise nothing below 1e-38 is ever multiplied
/// by more than some 1e20. Those targets are computed again with denormals, as in hmmalign.
bool align_targets(const SearchModel &model, const TargetBlock &block, Targets targets, int n_threads,
                   const ResiduePlaces &out, std::vector<int32_t> &dropped, const Poll &poll) {
    {
        const DenormalsKept guard;  // also while the tables are made
        model.floats(), model.path_masks();
    }
    std::vector<int32_t> again;
    const bool is_done =
        align_all<DenormalsAsZero>(model, block, targets, n_threads, out, again, poll) &&
        (again.empty() || align_all<DenormalsKept>(model, block, again, n_threads, out, dropped, poll));
    std::sort(dropped.begin(), dropped.end());
    return is_done;
}

namespace {

/// Call insert(node, first residue, residues) for each insert of a sequence.
template <class Insert>
void each_insert(std::span<const int32_t> places, int64_t begin, int64_t end, const Insert &insert) {
    for (int64_t i = begin; i < end;) {
        const int64_t first = i++;
        const int32_t place = places[first];
        if (place > 0) continue;
        while (i < end && places[i] == place) ++i;
        insert(-place, first, i - first);
    }
}

}  // namespace

void widen_inserts(std::span<const int32_t> places, std::span<const int64_t> offsets, std::span<int32_t> widths) {
    for (size_t k = 1; k < offsets.size(); ++k)
        each_insert(places, offsets[k - 1], offsets[k], [&](int32_t node, int64_t, int64_t n) {
            widths[node] = std::max(widths[node], static_cast<int32_t>(n));
        });
}

void columns_of_places(std::span<const int32_t> places, std::span<const int64_t> offsets,
                       std::span<const int32_t> widths, bool is_trimmed, int32_t *columns) {
    const auto M = static_cast<int32_t>(widths.size()) - 1;
    std::vector<int32_t> behind(widths.size());  // first column after each node
    for (int32_t k = 1; k <= M; ++k) behind[k] = behind[k - 1] + (is_trimmed && k == 1 ? 0 : widths[k - 1]) + 1;
    for (size_t s = 1; s < offsets.size(); ++s) {
        for (int64_t i = offsets[s - 1]; i < offsets[s]; ++i)
            if (places[i] > 0) columns[i] = behind[places[i]] - 1;
        each_insert(places, offsets[s - 1], offsets[s], [&](int32_t node, int64_t first, int64_t n) {
            const bool is_left_out = is_trimmed && (node == 0 || node == M);
            const int64_t n_left = node == 0 ? 0 : node == M ? n : n / 2;
            for (int64_t i = 0; i < n; ++i) {
                const int64_t place = i < n_left ? i : widths[node] - n + i;
                columns[first + i] = is_left_out ? -1 : static_cast<int32_t>(behind[node] + place);
            }
        });
    }
}

uint32_t alignment_checksum(std::span<const uint8_t> codes) {
    uint32_t sum = 0;
    for (const uint8_t code : codes) {
        sum += code;
        sum += sum << 10;
        sum ^= sum >> 6;
    }
    sum += sum << 3;
    sum ^= sum >> 11;
    return sum + (sum << 15);
}

}  // namespace tropalign

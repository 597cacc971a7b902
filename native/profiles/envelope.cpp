#include "envelope.hpp"

#include <cmath>
#include <string_view>

#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"
#include "envelope_units.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(EnvelopeKernels, envelope_kernels)

namespace {

/// Convert odds of the canonical residues to logarithms for all codes: an ambiguity code has the mean odds, and
/// non-residues have odds of 1.
void finish_null2(std::array<float, kCodes> &odds) {
    constexpr std::string_view letters = "ACDEFGHIKLMNPQRSTVWY",
                               members[] = {"DN", "IL", "EQ", "K", "C", letters};  // B J Z O U X
    for (size_t a = 0; a < std::size(members); ++a) {
        float sum = 0;
        for (const char letter : members[a]) sum += odds[letters.find(letter)];
        odds[kResidues + 1 + a] = sum / static_cast<float>(members[a].size());
    }
    odds[kResidues] = odds[kCodes - 2] = odds[kCodes - 1] = 1;
    for (float &x : odds) x = logf(x);
}

/// Convert the contents of a lane of a unit to the result of its envelope.
void finish_envelope(const SearchModel &model, const EnvelopeUnit &unit, int lane, int width, const Envelope &envelope,
                     std::vector<PathStep> &path, EnvelopeResult &result) {
    const EnvelopeLane &found = unit.lanes[lane];
    DomainHit &hit = result.hit;
    hit.envelope_begin = envelope.begin, hit.envelope_end = envelope.end;
    hit.envelope_nats = found.nats;
    result.is_dropped = !found.in_range;
    if (result.is_dropped) {
        result.null2 = {};
        return;
    }
    hit.expected_accuracy = found.accuracy;
    walk_back(unit, lane, width, path);
    write_lines(model.plain(), found.codes, path, envelope.begin, hit);
    if (!found.null2) return;
    finish_null2(result.null2);
    for (int32_t i = 0; i < found.L; ++i) hit.correction_nats += result.null2[found.codes[i]];
}

}  // namespace

size_t envelope_bytes(const SearchModel &model, int32_t L) {
    return std::max(kUnitBytes, bytes_of(model.floats().Q, L, 1).all());
}

void rescore_envelopes(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
                       EnvelopeResult *out) {
    const DenormalsAsZero guard;
    thread_local EnvelopeWork work;
    for (size_t k = 0; k < envelopes.size(); ++k) out[k] = {};
    const auto null2_of = [&](int32_t k) { return envelopes[k].with_null2 ? out[k].null2.data() : nullptr; };
    compute_envelopes(model, block, envelopes, work, null2_of,
                      [&](const EnvelopeUnit &unit, int lane, int width, int32_t k) {
                          finish_envelope(model, unit, lane, width, envelopes[k], work.path, out[k]);
                      });
}

namespace {

PathMasks make_path_masks(const FloatTables &tables) {
    const auto n = static_cast<size_t>(tables.Q);
    PathMasks made{Buffer<uint32_t>(n * PathMasks::kMasks * kQuad), Buffer<uint8_t>(n)};
    uint32_t open[kQuad] = {~0u, ~0u, ~0u, ~0u};
    for (size_t q = 0; q < n; ++q) {
        bool all = true;
        for (int which = 0; which < PathMasks::kMasks; ++which)
            for (int r = 0; r < kQuad; ++r) {
                const float odds = which == kDD ? tables.deletes.data()[q * kQuad + r]
                                                : tables.transitions.data()[(q * kDD + which) * kQuad + r];
                const uint32_t mask = which == PathMasks::kOpen ? open[r] : odds > 0 ? ~0u : 0;
                made.masks[(q * PathMasks::kMasks + which) * kQuad + r] = mask;
                all &= mask != 0;
            }
        made.all_pass[q] = all;
        for (int r = 0; r < kQuad; ++r) open[r] &= made.masks[(q * PathMasks::kMasks + kDD) * kQuad + r];
    }
    return made;
}

}  // namespace

const PathMasks &SearchModel::path_masks() const {
    return path_masks_.get([&] { return make_path_masks(floats()); });
}

}  // namespace tropalign

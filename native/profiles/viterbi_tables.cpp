#include "viterbi_tables.hpp"

#include <algorithm>
#include <vector>

namespace tropalign {
namespace {

/// Return the score of a transition in the step at node k (1 to M); nothing enters node M + 1.
int16_t step_of(const ProfileModel &model, int which, int32_t k) {
    constexpr std::array<Transition, kSteps> transitions{kBM, kMM, kIM, kDM, kMI, kII, kMD, kDD};
    const int32_t at = which == kStepMM || which == kStepIM || which == kStepDM ? k + 1 : k;
    if (at > model.M) return kViterbiLowest;
    const auto row = static_cast<size_t>(transitions[static_cast<size_t>(which)]);
    const int16_t score = model.word_transitions[row * (static_cast<size_t>(model.M) + 1) + static_cast<size_t>(at)];
    return std::min<int16_t>(score, 0);  // DD of a probability above 1, on which arrangements would disagree
}

int16_t match_of(const ProfileModel &model, size_t code, int32_t k) {
    return model.word_match[code * (static_cast<size_t>(model.M) + 1) + static_cast<size_t>(k)];
}

Buffer<int16_t> filled_with_lowest(size_t size) {
    Buffer<int16_t> made(size);
    std::fill_n(made.data(), size, kViterbiLowest);
    return made;
}

Buffer<uint16_t> crossing_costs(const ViterbiStripes &tables, int n_stripes) {
    std::vector<int64_t> through(static_cast<size_t>(n_stripes));
    const int16_t *dd = tables.steps.data() + kStepDD * n_stripes;
    for (int32_t q = 0; q < tables.Q; ++q, dd += kSteps * n_stripes)
        for (int z = 0; z < n_stripes; ++z) through[static_cast<size_t>(z)] -= dd[z];
    Buffer<uint16_t> made(static_cast<size_t>(n_stripes) * static_cast<size_t>(n_stripes));
    uint16_t *out = made.data();
    for (int n = 1; n < n_stripes; n *= 2)
        for (int z = 0; z < n_stripes; ++z) {
            int64_t cost = 0;
            for (int w = std::max(0, z - n + 1); w <= z; ++w) cost += through[static_cast<size_t>(w)];
            *out++ = static_cast<uint16_t>(std::clamp<int64_t>(cost, 0, UINT16_MAX));
        }
    return made;
}

}  // namespace

ViterbiLaneTables::ViterbiLaneTables(const ProfileModel &model, ViterbiLookup lookup)
    : M(model.M), nodes(static_cast<size_t>(M)), match(static_cast<size_t>(M)) {
    const size_t code_bytes = lookup == ViterbiLookup::words ? 2 : 1;
    const size_t high_byte = lookup == ViterbiLookup::words ? 1 : kViterbiCodes;
    for (int32_t k = 1; k <= M; ++k) {
        const auto at = static_cast<size_t>(k - 1);
        for (int which = 0; which < kSteps; ++which)
            nodes[at][static_cast<size_t>(which)].fill(step_of(model, which, k));
        for (size_t code = 0; code < kViterbiCodes; ++code) {
            const auto score = static_cast<uint16_t>(match_of(model, code < kCodes ? code : kResidues, k));
            match[at][code * code_bytes] = static_cast<uint8_t>(score & 255);
            match[at][code * code_bytes + high_byte] = static_cast<uint8_t>(score >> 8);
        }
    }
}

ViterbiStripes::ViterbiStripes(const ProfileModel &model, int n_stripes)
    : Q((model.M + n_stripes - 1) / n_stripes),
      steps(filled_with_lowest(static_cast<size_t>(Q) * kSteps * static_cast<size_t>(n_stripes))),
      match(filled_with_lowest(static_cast<size_t>(Q) * kCodes * static_cast<size_t>(n_stripes))) {
    const auto vectors = static_cast<size_t>(Q), width = static_cast<size_t>(n_stripes);
    for (int32_t k = 1; k <= model.M; ++k) {
        const auto q = static_cast<size_t>((k - 1) % Q), z = static_cast<size_t>((k - 1) / Q);
        for (int which = 0; which < kSteps; ++which)
            steps[(q * kSteps + static_cast<size_t>(which)) * width + z] = step_of(model, which, k);
        for (size_t code = 0; code < kCodes; ++code) match[(code * vectors + q) * width + z] = match_of(model, code, k);
    }
    crossing = crossing_costs(*this, n_stripes);
}

const ViterbiLaneTables &ViterbiTables::lanes(ViterbiLookup lookup) const {
    return lanes_[static_cast<size_t>(lookup)].get([&] { return ViterbiLaneTables(model_, lookup); });
}

const ViterbiStripes &ViterbiTables::stripes(int n_stripes) const {
    return stripes_[n_stripes / 16].get([&] { return ViterbiStripes(model_, n_stripes); });
}

const ViterbiTables &SearchModel::viterbi() const {
    return viterbi_.get([&]() -> const ProfileModel & { return plain_; });
}

}  // namespace tropalign

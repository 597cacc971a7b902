#include "targets.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "../simd/bytes.hpp"
#include "../simd/dispatch.hpp"
#include "lengths.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(RecodeKernels, recode_kernels)

namespace {

using TROPALIGN_ISA::load;
using TROPALIGN_ISA::store;
using TROPALIGN_ISA::transpose16;
using TROPALIGN_ISA::Vec;

/// Interleave sixteen residues of sixteen targets.
void interleave16(const uint8_t *const (&codes)[16], uint8_t *out) {
    Vec<int8_t, 16> v[16];
    for (int k = 0; k < 16; ++k) v[k] = load<int8_t, 16>(codes[k]);
    transpose16<16>(v);
    for (int k = 0; k < 16; ++k) store<int8_t, 16>(out + k * kGroupTargets, v[k]);
}

}  // namespace

TargetBlock::TargetBlock(const uint8_t *codes, const int64_t *offsets, int32_t n)
    : codes_(codes), offsets_(offsets), n_(n), by_length_(static_cast<size_t>(n)) {
    sort();
    for (int32_t at = 0; at < n; ++at) {
        const int32_t L = length(by_length_[at]);
        if (length_runs_.empty() || length_runs_.back().length != L)
            length_runs_.push_back({L, at, at, null1_nats(L), byte_move(L)});
        length_runs_.back().end = at + 1;
    }
    const int32_t n_groups = (n + kGroupTargets - 1) / kGroupTargets;
    first_size_ = static_cast<size_t>(n - (n_groups - 1) * kGroupTargets);
    group_made_ = std::make_unique<std::once_flag[]>(n_groups);
    for (int32_t g = 0; g < n_groups; ++g) {
        Group group{interleaved_size_, 0, 0};
        for (const int32_t k : group_targets(g)) {
            group.n_rows = length(k);  // lengths ascend
            group.n_residues += length(k);
        }
        interleaved_size_ += static_cast<size_t>(group.n_rows) * kGroupTargets;
        groups_.push_back(group);
    }
}

/// Sort by counting, since there are far fewer lengths than targets.
void TargetBlock::sort() {
    int32_t longest = 0;
    for (int32_t k = 0; k < n_; ++k) longest = std::max(longest, length(k));
    std::vector<int32_t> next(static_cast<size_t>(longest) + 2);  // position of the next target of each length
    for (int32_t k = 0; k < n_; ++k) ++next[length(k) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (int32_t k = 0; k < n_; ++k) by_length_[next[length(k)]++] = k;
}

ptrdiff_t TargetBlock::place_of(Targets targets) const {
    const std::less_equal<const int32_t *> is_before;
    const int32_t *begin = by_length_.data(), *end = begin + by_length_.size();
    const bool are_there = is_before(begin, targets.data()) && is_before(targets.data() + targets.size(), end);
    return are_there ? targets.data() - begin : -1;
}

Targets TargetBlock::group_targets(int32_t g) const {
    if (g == 0) return by_length().first(first_size_);
    return by_length().subspan(first_size_ + static_cast<size_t>(g - 1) * kGroupTargets, kGroupTargets);
}

TargetBlock::GroupPlace TargetBlock::group_of(size_t place) const {
    if (place < first_size_) return {0, static_cast<int32_t>(place)};
    const auto after = static_cast<int32_t>(place - first_size_);
    return {1 + after / kGroupTargets, after % kGroupTargets};
}

TargetGroup TargetBlock::group_size(int32_t g) const { return {nullptr, groups_[g].n_rows, groups_[g].n_residues}; }

TargetGroup TargetBlock::group(int32_t g) const {
    std::call_once(allocated_, [this] { interleaved_ = Buffer<uint8_t>(interleaved_size_); });
    const Group &place = groups_[g];
    uint8_t *codes = interleaved_.data() + place.begin;
    std::call_once(group_made_[g], [&] { interleave(*this, group_targets(g), place.n_rows, codes); });
    return {codes, place.n_rows, place.n_residues};
}

void interleave(const TargetBlock &block, Targets targets, int32_t n_rows, uint8_t *out) {
    for (size_t first = 0; first < kGroupTargets; first += 16, out += 16) {
        const uint8_t *codes[16];
        int32_t lengths[16], whole = n_rows;
        for (size_t k = 0; k < 16; ++k) {
            const bool is_there = first + k < targets.size();
            codes[k] = is_there ? block.codes(targets[first + k]) : nullptr;
            lengths[k] = is_there ? block.length(targets[first + k]) : 0;
            whole = std::min(whole, lengths[k]);
        }
        int32_t i = 0;
        for (; i + 16 <= whole; i += 16) {
            interleave16(codes, out + static_cast<size_t>(i) * kGroupTargets);
            for (const uint8_t *&at : codes) at += 16;
        }
        for (; i < n_rows; ++i)  // rows in which some targets have ended
            for (int k = 0; k < 16; ++k) {
                const bool is_within = i < lengths[k];
                out[static_cast<size_t>(i) * kGroupTargets + k] = is_within ? *codes[k] : kGroupPadCode;
                if (is_within) ++codes[k];
            }
    }
}

}  // namespace tropalign

#include "ssv.hpp"

#include <algorithm>
#include <array>

#include "../compute/scratch.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(SsvKernels, ssv_kernels)

namespace {

/// Return a cost as a signed byte; scores below -127 are equivalent to -127, since V cannot survive them.
int8_t signed_cost(const ProfileModel &model, int code, int32_t node) {
    const int cost = model.byte_cost[static_cast<size_t>(code) * (model.M + 1) + node + 1] - model.bias;
    return static_cast<int8_t>(std::clamp(cost, -128, 127));
}

void lay_lanes(const ProfileModel &model, SsvTables &tables) {
    tables.n_bands = (model.M + tables.kernels->most_band_nodes - 1) / tables.kernels->most_band_nodes;
    tables.band_nodes = (model.M + tables.n_bands - 1) / tables.n_bands;
    tables.nodes.resize(static_cast<size_t>(tables.n_bands) * tables.band_nodes);
    for (NodeCosts &node : tables.nodes) std::fill_n(node.of, 32, int8_t{127});
    for (int32_t k = 0; k < model.M; ++k)
        for (int code = 0; code < kCodes; ++code) tables.nodes[k].of[code] = signed_cost(model, code, k);
}

/// Choose the fewest sweeps over a target, then the fewest vectors per sweep.
void choose_stripes(SsvTables &tables) {
    const int32_t lanes = tables.kernels->vector_bytes, most = tables.kernels->most_stripes;
    for (int32_t n_sweeps = 1;; ++n_sweeps)
        for (int32_t w = 1; w <= most; ++w) {
            const int32_t Q = (tables.M + w - 1 + lanes - 1) / lanes;
            if (w * n_sweeps < Q) continue;
            tables.w = std::min(w, Q);
            tables.Q = Q;
            return;
        }
}

void lay_stripes(const ProfileModel &model, SsvTables &tables) {
    choose_stripes(tables);
    const int32_t lanes = tables.kernels->vector_bytes, n_vectors = tables.Q + tables.w - 1;
    tables.stripes_stride = static_cast<size_t>(n_vectors) * lanes;
    tables.stripes.resize((kCodes * tables.stripes_stride + sizeof(StripeCosts) - 1) / sizeof(StripeCosts));
    int8_t *out = tables.stripes.front().of;
    for (int code = 0; code < kCodes; ++code)
        for (int32_t t = 0; t < n_vectors; ++t)
            for (int32_t l = 0; l < lanes; ++l) {
                const int32_t node = l * tables.Q + t - (tables.w - 1);
                *out++ = node >= 0 && node < model.M ? signed_cost(model, code, node) : int8_t{127};
            }
}

SsvTables make_ssv_tables(const ProfileModel &model) {
    SsvTables tables{};
    tables.kernels = selected_ssv_kernels();
    tables.M = model.M;
    lay_lanes(model, tables);
    lay_stripes(model, tables);
    return tables;
}

enum class SsvSlot { border, codes, count };

Scratch<SsvSlot> &ssv_scratch() {
    thread_local Scratch<SsvSlot> kept;
    return kept;
}

bool is_faster_in_lanes(const SsvTables &tables, const TargetGroup &group) {
    const SsvKernels &kernels = *tables.kernels;
    const float stripes = std::max(kernels.stripe_cycles * static_cast<float>(tables.Q), kernels.least_stripes_cycles);
    return static_cast<float>(group.n_rows) * kernels.lanes_cycles * static_cast<float>(tables.M) <
           static_cast<float>(group.n_residues) * stripes;
}

/// Return the rows of the block's group, or of the longest target, and their residues.
TargetGroup size_of(const TargetBlock &block, Targets targets, int32_t g) {
    if (g >= 0 && targets.size() == kGroupTargets) return block.group_size(g);
    TargetGroup size{nullptr, g < 0 ? 0 : block.group_size(g).n_rows, 0};
    for (const int32_t k : targets) {
        size.n_rows = std::max(size.n_rows, block.length(k));
        size.n_residues += block.length(k);
    }
    return size;
}

void highest_striped(const SsvTables &tables, const TargetBlock &block, Targets targets, uint8_t *highest) {
    const SsvKernels &kernels = *tables.kernels;
    size_t k = 0;
    for (; tables.w <= kernels.most_paired && k + 1 < targets.size(); k += 2) {
        const int32_t a = targets[k], b = targets[k + 1], L[] = {block.length(a), block.length(b)};
        const uint8_t *const codes[] = {block.codes(a), block.codes(b)};
        kernels.striped_pair(tables, codes, L, highest + k);
    }
    for (; k < targets.size(); ++k)
        highest[k] = kernels.striped(tables, block.codes(targets[k]), block.length(targets[k]));
}

/// Process up to 64 targets: those of the block's group from lane `in.lane` on, or of no group if `in.group` is -1.
void highest_of_some(const SsvTables &tables, const TargetBlock &block, Targets targets,
                     const TargetBlock::GroupPlace &in, uint8_t *highest) {
    TargetGroup group = size_of(block, targets, in.group);
    if (!is_faster_in_lanes(tables, group)) {
        highest_striped(tables, block, targets, highest);
        return;
    }
    const size_t bytes = static_cast<size_t>(group.n_rows) * kGroupTargets;
    ssv_scratch().begin(2 * Scratch<SsvSlot>::taken(bytes));
    if (in.group >= 0) group = block.group(in.group);
    else {
        auto *codes = static_cast<uint8_t *>(ssv_scratch().get(SsvSlot::codes, bytes));
        interleave(block, targets, group.n_rows, codes);
        group.codes = codes;
    }
    alignas(64) std::array<uint8_t, kGroupTargets> found;
    tables.kernels->lanes(tables, group, static_cast<int8_t *>(ssv_scratch().get(SsvSlot::border, bytes)),
                          found.data());
    std::copy_n(found.begin() + in.lane, targets.size(), highest);
}

}  // namespace

const SsvTables &SearchModel::ssv() const {
    return ssv_.get([&] { return make_ssv_tables(plain_); });
}

void ssv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, uint8_t *highest) {
    const SsvTables &tables = model.ssv();
    const ptrdiff_t place = block.place_of(targets);
    for (size_t at = 0, n; at < targets.size(); at += n) {
        TargetBlock::GroupPlace in{-1, 0};
        if (place >= 0) in = block.group_of(place + at);
        const size_t most = place < 0 ? kGroupTargets : block.group_targets(in.group).size() - in.lane;
        n = std::min(most, targets.size() - at);
        highest_of_some(tables, block, targets.subspan(at, n), in, highest + at);
    }
}

}  // namespace tropalign

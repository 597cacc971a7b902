// Decisions of the first filter, those of HMMER 3.4's p7_SSVFilter, p7_MSVFilter and p7_Pipeline, in their order and
// with their number types.
#include "msv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "../simd/dispatch.hpp"
#include "lengths.hpp"
#include "p_values.hpp"
#include "ssv.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(MsvKernels, msv_kernels)

namespace {

constexpr float kOverflow = std::numeric_limits<float>::infinity();

/// Values common to all targets of one length.
struct OfLength {
    int move, enter;  ///< Costs in thirds of a bit: C -> T; J -> B -> M.
    bool has_rows;

    OfLength(const ProfileModel &model, const LengthRun &run)
        : move(run.byte_move), enter(move + model.entry), has_rows(run.length > 0) {}

    /// Return the score for the highest J. The 3.0 stands for the loops of N, J and C, which cost nothing in
    /// bytes.
    float nats(int J) const {
        const float thirds = static_cast<float>(J - move) - static_cast<float>(kByteBase);
        return static_cast<float>(static_cast<double>(thirds / kByteScale) - 3.0);
    }

    /// Return SSV's score for its highest V; empty if MSV must decide.
    std::optional<float> ssv_nats(const ProfileModel &model, int V) const {
        if (enter + model.end + model.bias >= 127) return std::nullopt;
        const int overflow = 255 - model.bias;
        if (V >= overflow) {
            if (kByteBase - enter < 128) return std::nullopt;
            return kOverflow;
        }
        const int E = V + kByteBase - enter - 128;
        if (E >= overflow) return kOverflow;
        if (E - model.end > kByteBase) return std::nullopt;
        return nats(E - model.end);
    }

    /// Return the least V for which ssv_nats returns the score of `least_J`, infinity or nothing.
    int least_V(const ProfileModel &model, int least_J) const {
        if (enter + model.end + model.bias >= 127) return 0;
        const int of_E_0 = enter + 128 - kByteBase, overflow = 255 - model.bias;
        return std::min({of_E_0 + model.end + std::min(least_J, kByteBase + 1), overflow, of_E_0 + overflow});
    }

    float msv_nats(const ProfileModel &model, int M) const {
        if (M >= 255 - model.bias && has_rows) return kOverflow;
        return nats(std::max(0, M - model.end));
    }
};

/// Return the bits at which P falls to F1, minus a margin for rounding.
double least_bits(const ProfileModel &model, double F1) {
    const bool is_usual = F1 < 0.999 && model.msv_lambda > 0;  // otherwise all targets must be examined
    if (!is_usual) return -std::numeric_limits<double>::infinity();
    return model.msv_mu - std::log(-std::log1p(-F1)) / model.msv_lambda - 0.001;
}

/// Return the least J that reaches these bits, or one less.
int least_J(double bits, const LengthRun &run) {
    const double J = (bits * std::numbers::ln2 + run.null1_nats + 3.0) * kByteScale + kByteBase + run.byte_move;
    return static_cast<int>(std::clamp(std::ceil(J - 0.01), 0.0, 256.0));
}

/// Visit targets in runs of equal lengths.
template <class Visit>
void by_runs(const TargetBlock &block, Targets targets, const Visit &visit) {
    const std::span<const LengthRun> runs = block.length_runs();
    const ptrdiff_t place = block.place_of(targets);
    auto run = runs.begin();
    for (size_t at = 0, end; at < targets.size(); at = end) {
        if (place >= 0) {
            const auto here = static_cast<int32_t>(place + at);
            if (at == 0) run = std::ranges::upper_bound(runs, here, {}, &LengthRun::end);
            end = std::min<size_t>(run->end - place, targets.size());
            visit(*run++, at, end);
        } else {
            const int32_t L = block.length(targets[at]);
            for (end = at + 1; end < targets.size() && block.length(targets[end]) == L;) ++end;
            visit(*std::ranges::lower_bound(runs, L, {}, &LengthRun::length), at, end);
        }
    }
}

/// Targets that need MSV.
struct ForMsv {
    std::vector<int32_t> targets;
    std::vector<size_t> at;  ///< Index of each target's score.
    std::vector<OfLength> lengths;

    void add(int32_t target, size_t place, const OfLength &length) {
        targets.push_back(target);
        at.push_back(place);
        lengths.push_back(length);
    }

    void score(const ProfileModel &model, const MsvOfMany &msv, float *nats) const {
        std::vector<uint8_t> enter(targets.size()), highest(targets.size());
        for (size_t k = 0; k < targets.size(); ++k) enter[k] = static_cast<uint8_t>(lengths[k].enter);
        if (!targets.empty()) msv(targets, enter.data(), highest.data());
        for (size_t k = 0; k < targets.size(); ++k) nats[at[k]] = lengths[k].msv_nats(model, highest[k]);
    }
};

/// MSV on the CPU.
MsvOfMany native_msv(const SearchModel &model, const TargetBlock &block) {
    return [&](Targets targets, const uint8_t *enter, uint8_t *highest) {
        msv_highest(model, block, targets, enter, highest);
    };
}

}  // namespace

void msv_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    std::vector<uint8_t> V(targets.size());
    ssv_highest(model, block, targets, V.data());
    ForMsv rest;
    by_runs(block, targets, [&](const LengthRun &run, size_t begin, size_t end) {
        const OfLength length(model.plain(), run);
        for (size_t at = begin; at < end; ++at)
            if (const auto score = length.ssv_nats(model.plain(), V[at])) nats[at] = *score;
            else rest.add(targets[at], at, length);
    });
    rest.score(model.plain(), native_msv(model, block), nats);
}

void msv_filter(const SearchModel &model, const TargetBlock &block, Targets targets, double F1,
                std::vector<int32_t> &passed, std::vector<float> &nats) {
    std::vector<uint8_t> V(targets.size());
    ssv_highest(model, block, targets, V.data());
    msv_filter_by(model.plain(), block, targets, V.data(), F1, native_msv(model, block), passed, nats);
}

void msv_filter_by(const ProfileModel &plain, const TargetBlock &block, Targets targets, const uint8_t *V, double F1,
                   const MsvOfMany &msv, std::vector<int32_t> &passed, std::vector<float> &nats) {
    // Targets that may pass, with the null model's score of each.
    std::vector<int32_t> near;
    std::vector<float> scores, null1;
    ForMsv rest;
    const double bits = least_bits(plain, F1);
    by_runs(block, targets, [&](const LengthRun &run, size_t begin, size_t end) {
        if (run.length == 0) return;
        const OfLength length(plain, run);
        const int least = length.least_V(plain, least_J(bits, run));
        for (size_t at = begin; at < end; ++at) {
            if (V[at] < least) continue;
            const std::optional<float> score = length.ssv_nats(plain, V[at]);
            if (!score) rest.add(targets[at], near.size(), length);
            near.push_back(targets[at]);
            scores.push_back(score.value_or(0));
            null1.push_back(run.null1_nats);
        }
    });
    rest.score(plain, msv, scores.data());
    for (size_t k = 0; k < near.size(); ++k) {
        if (gumbel_p(bits_of(scores[k], null1[k]), plain.msv_mu, plain.msv_lambda) > F1) continue;
        passed.push_back(near[k]);
        nats.push_back(scores[k]);
    }
}

}  // namespace tropalign

// The first filter of a search: SSV, and MSV where SSV cannot say (HMMER 3.4's p7_MSVFilter, which begins with
// p7_SSVFilter). Both find the best ungapped alignment of a model to a target, in bytes; MSV lets several follow one
// another.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// Scores of targets in nats; infinite where bytes overflow. The SSV score where SSV has one, else MSV's.
void msv_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// Appends the targets whose P-value is F1 or less, and their scores. `targets`: by ascending length. None of length 0
/// passes.
void msv_filter(const SearchModel &model, const TargetBlock &block, Targets targets, double F1,
                std::vector<int32_t> &passed, std::vector<float> &nats);

/// The highest M of each target, as msv_highest.hpp has it: (targets, enter, highest).
using MsvOfMany = std::function<void(Targets, const uint8_t *, uint8_t *)>;

/// The same where the highest V of each target has been computed elsewhere, as will be MSV's of those that need it.
void msv_filter_by(const ProfileModel &model, const TargetBlock &block, Targets targets, const uint8_t *V, double F1,
                   const MsvOfMany &msv, std::vector<int32_t> &passed, std::vector<float> &nats);

}  // namespace tropalign

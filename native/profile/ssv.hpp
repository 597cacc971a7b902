// SSV of many targets: which arrangement of lanes computes what (ssv_kernels.hpp).
#pragma once
#include <cstdint>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// The highest V of each target. Fastest for whole groups of the block, whose residues lie side by side there.
void ssv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, uint8_t *highest);

}  // namespace tropalign

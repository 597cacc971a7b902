// MSV of many targets: which arrangement of lanes computes what (msv_kernels.hpp).
#pragma once
#include <cstdint>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// The highest M of each target, or one within the bias of 255. enter[k]: B -> M and J -> B of targets[k], in thirds of
/// a bit. Fastest where neighbours are of like lengths.
void msv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, const uint8_t *enter,
                 uint8_t *highest);

}  // namespace tropalign

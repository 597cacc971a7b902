// Checks of target indices.
#pragma once
#include "../profiles/targets.hpp"
#include "check.hpp"

namespace tropalign {

inline Targets checked_targets(const TargetBlock &block, const Column<int32_t> &targets) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    return {targets.data(), targets.size()};
}

}  // namespace tropalign

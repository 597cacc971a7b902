#include "targets.hpp"

#include <algorithm>
#include <numeric>

namespace tropalign {

TargetBlock::TargetBlock(const uint8_t *codes, const int64_t *offsets, int32_t n)
    : codes_(codes), offsets_(offsets), n_(n), by_length_(static_cast<size_t>(n)) {
    std::iota(by_length_.begin(), by_length_.end(), 0);
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [this](int32_t a, int32_t b) { return length(a) < length(b); });
}

}  // namespace tropalign

// Values that depend on a target's length: formulas and the number type of each step are those of HMMER 3.4
// (p7_oprofile_ReconfigLength, p7_bg_SetLength, p7_bg_NullOne), because the last bits depend on them.
#include "lengths.hpp"

#include <algorithm>
#include <cmath>

namespace tropalign {
namespace {

/// Return the score of leaving N, J or C, in nats: expected three times per target.
float move_nats(int32_t L) { return std::log(3.0F / static_cast<float>(L + 3)); }

}  // namespace

float null1_nats(int32_t L) {
    const float p1 = static_cast<float>(L) / static_cast<float>(L + 1);
    const double stay = std::log(static_cast<double>(p1)), leave = std::log(1.0 - static_cast<double>(p1));
    return static_cast<float>(static_cast<double>(static_cast<float>(L)) * stay + leave);
}

uint8_t byte_move(int32_t L) { return static_cast<uint8_t>(std::min(-std::round(kByteScale * move_nats(L)), 255.0F)); }

int16_t word_move(int32_t L) {
    return static_cast<int16_t>(std::clamp(std::round(kWordScale * move_nats(L)), -32768.0F, 32767.0F));
}

}  // namespace tropalign

// Conversion of characters to codes: a vector at a time if all are bytes from 64 to 127, which include the letters
// of both cases.
#include "../simd/bytes.hpp"
#include "targets.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int B = kVectorBytes;
using V = Vec<int8_t, B>;

uint8_t recode(const uint8_t *letters, size_t n, const uint8_t *table, uint8_t *codes) {
    const auto *upper = reinterpret_cast<const int8_t *>(table + 64);
    const auto *lower = reinterpret_cast<const int8_t *>(table + 96);
    V bits = {};
    uint8_t others = 0;
    auto one_by_one = [&](size_t begin, size_t end) {
        for (size_t k = begin; k < end; ++k) others |= codes[k] = table[letters[k]];
    };
    size_t k = 0;
    for (; k + B <= n; k += B) {
        const V letter = load<int8_t, B>(letters + k);
        if (static_cast<Lanes<int8_t, B>::Bits>(~gt_bits<int8_t, B>(letter, splat<int8_t, B>(63)))) {
            one_by_one(k, k + B);
            continue;
        }
        const V index = letter & static_cast<int8_t>(31);
        const V code = letter > static_cast<int8_t>(95) ? lookup32<B>(lower, index) : lookup32<B>(upper, index);
        bits |= code;
        store<int8_t, B>(codes + k, code);
    }
    one_by_one(k, n);
    for (int l = 0; l < B; ++l) others |= static_cast<uint8_t>(bits[l]);
    return others;
}

}  // namespace

extern const RecodeKernels recode_kernels = {recode};

}  // namespace tropalign::TROPALIGN_ISA

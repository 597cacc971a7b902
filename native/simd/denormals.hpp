// Denormal floats as zeros, both what instructions take and what they give (DAZ and FTZ), as hmmsearch computes: part
// of its bits, and two to three times faster where probabilities die out.
#pragma once
#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tropalign {

/// What the calling thread does with denormals, in bits of MXCSR; always 0 where a processor has no such mode. Arm has
/// one bit for both (FZ of FPCR).
inline constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
inline constexpr unsigned kBothAsZero = kFlushToZero | kDenormalsAreZero;

/// Sets it and returns what it was.
inline unsigned set_denormals([[maybe_unused]] unsigned bits) {
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~kBothAsZero) | (bits & kBothAsZero));
    return before & kBothAsZero;
#elif defined(__aarch64__)
    constexpr uint64_t kFlush = uint64_t{1} << 24;
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(bits & kBothAsZero ? before | kFlush : before & ~kFlush) : "memory");
    return before & kFlush ? kBothAsZero : 0;
#else
    return 0;
#endif
}

/// What the calling thread does with denormals, for as long as it lives; then puts back what was there.
template <unsigned bits>
class Denormals {
  public:
    Denormals() : before_(set_denormals(bits)) {}
    ~Denormals() { set_denormals(before_); }
    Denormals(const Denormals &) = delete;
    Denormals &operator=(const Denormals &) = delete;

  private:
    unsigned before_;
};

using DenormalsAsZero = Denormals<kBothAsZero>;
/// Hmmalign computes with denormals: with zeros, posteriors of long tails would be 1.00 where it has 0.94.
using DenormalsKept = Denormals<0>;

}  // namespace tropalign

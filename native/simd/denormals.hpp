// Denormal floats treated as zeros, as operands and as results (DAZ and FTZ), as hmmsearch does: its bits depend
// on this, and it is two to three times faster where probabilities die out.
#pragma once
#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tropalign {

/// Denormal mode of the calling thread, as bits of MXCSR; always 0 if a processor has no such mode. Arm has one
/// bit for both (FZ of FPCR).
inline constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
inline constexpr unsigned kBothAsZero = kFlushToZero | kDenormalsAreZero;

/// Set the mode and return the previous one.
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

/// Denormal mode of the calling thread for the lifetime of the object; the destructor restores the previous mode.
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
/// hmmalign computes with denormals: if they were zeros, posteriors of long tails would be 1.00 where it has 0.94.
using DenormalsKept = Denormals<0>;

}  // namespace tropalign

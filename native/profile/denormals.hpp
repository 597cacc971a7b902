// Denormal floats as zeros, both what instructions take and what they give (DAZ and FTZ), as hmmsearch computes: part
// of its bits, and two to three times faster where probabilities die out.
#pragma once
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tropalign {

/// What the calling thread does with denormals, in bits of MXCSR; always 0 where there is none.
inline constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
inline constexpr unsigned kBothAsZero = kFlushToZero | kDenormalsAreZero;

/// Sets it and returns what it was.
inline unsigned set_denormals([[maybe_unused]] unsigned bits) {
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~kBothAsZero) | (bits & kBothAsZero));
    return before & kBothAsZero;
#else
    return 0;
#endif
}

/// Sets both for the calling thread for as long as it lives, then puts back what was there.
class DenormalsAsZero {
  public:
    DenormalsAsZero() : before_(set_denormals(kBothAsZero)) {}
    ~DenormalsAsZero() { set_denormals(before_); }
    DenormalsAsZero(const DenormalsAsZero &) = delete;
    DenormalsAsZero &operator=(const DenormalsAsZero &) = delete;

  private:
    unsigned before_;
};

}  // namespace tropalign

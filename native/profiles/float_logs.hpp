// Logarithms of many floats at once, each equal to (float)log((double)x) of the C library.
//
// x = m 2^k with m from sqrt(1/2) to sqrt(2), and with s = (m - 1) / (m + 1), from -0.172 to 0.172,
//
//     log x = k log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ... + s^17 / 17)
//
// in double precision. The rest of the series is below 2^-49 of the result, rounding errors are below 2^-50; the C
// library is off by less than 2^-52. So the logarithm is within 2^-45 of the result, with a large margin. If both
// ends of that interval round to the same float, so does the C library's result. For one number in a million they do
// not, and the C library is called.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../simd/real.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Computes logarithms of vectors of floats; remembers whether any is in doubt.
class FloatLogs {
  public:
    static constexpr int kDoubles = kVectorBytes / 8;
    using Floats = Vec<float, kVectorBytes / 2>;

    [[gnu::always_inline]] Floats operator()(Floats x) {
        const Ints bits = (Ints)x, k = (bits - kRootOfHalf) >> 23;
        const Doubles m = __builtin_convertvector((Floats)(bits - (k << 23)), Doubles);
        const Doubles s = (m - 1.0) / (m + 1.0), z = s * s;
        Doubles sum = every<Doubles>(2.0 / 17);
        for (int n = 15; n >= 3; n -= 2) sum = fma(sum, z, every<Doubles>(2.0 / n));
        const Doubles log_m = fma(s * z, sum, s + s);
        const Doubles y = fma(__builtin_convertvector(k, Doubles), every<Doubles>(0.69314718055994530942), log_m);
        const Floats low = __builtin_convertvector(y * (1 - kDoubt), Floats);
        const Floats high = __builtin_convertvector(y * (1 + kDoubt), Floats);
        in_doubt_ |= (Ints)low ^ (Ints)high;
        return low;
    }

    bool any_in_doubt() const {
        Ints none{};
        return std::memcmp(&none, &in_doubt_, sizeof none) != 0;
    }

  private:
    using Ints = Vec<int32_t, kVectorBytes / 2>;
    using Doubles = Vec<double, kVectorBytes>;
    static constexpr int32_t kRootOfHalf = 0x3f3504f3;  // as a float
    static constexpr double kDoubt = 0x1p-45;

    Ints in_doubt_{};
};

/// Compute logarithms in place, of positive normal floats.
inline void logarithms(float *values, size_t n) {
    constexpr size_t kAtOnce = 1024;
    float given[kAtOnce];
    for (size_t begin = 0; begin < n; begin += kAtOnce) {
        const size_t count = std::min(kAtOnce, n - begin);
        float *at = values + begin;
        std::copy_n(at, count, given);
        FloatLogs log;
        size_t k = 0;
        for (; k + FloatLogs::kDoubles <= count; k += FloatLogs::kDoubles)
            store<float, kVectorBytes / 2>(at + k, log(load<float, kVectorBytes / 2>(given + k)));
        if (log.any_in_doubt()) k = 0;
        for (; k < count; ++k) at[k] = static_cast<float>(std::log(static_cast<double>(given[k])));
    }
}

}  // namespace tropalign::TROPALIGN_ISA

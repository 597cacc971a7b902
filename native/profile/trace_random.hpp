// The random numbers of stochastic traces: Easel's fast generator, so that a seed gives the traces that it gives HMMER.
#pragma once
#include <cstdint>

namespace tropalign {

/// x' = 69069 x + 1 modulo 2^32 (Marsaglia 1972), begun at the seed mixed with two constants (Jenkins 1997).
class TraceRandom {
  public:
    /// A seed of 0 is one like any other here; what chooses a seed for it is the caller.
    explicit TraceRandom(uint32_t seed) : state_(mixed(seed, 87654321, 12345678)) {
        if (!state_) state_ = 42;
    }

    /// Of [0, 2^32): divided by that, a number of [0, 1).
    uint32_t next() { return state_ = state_ * 69069 + 1; }

  private:
    static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
        // Three rounds, each of which shifts c, a and b in turn.
        constexpr int shifts[3][3] = {{13, 8, 13}, {12, 16, 5}, {3, 10, 15}};
        for (const auto &by : shifts) {
            a = (a - b - c) ^ (c >> by[0]);
            b = (b - c - a) ^ (a << by[1]);
            c = (c - a - b) ^ (b >> by[2]);
        }
        return c;
    }

    uint32_t state_;
};

}  // namespace tropalign

// Random numbers that are the same everywhere: SplitMix64 (Steele, Lea and Flood 2014).
#pragma once
#include <cstdint>

namespace tropalign {

class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// A number below n, n at most 2^32: the upper half of 32 bits times n.
    uint32_t below(uint64_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

  private:
    uint64_t state_;
};

}  // namespace tropalign

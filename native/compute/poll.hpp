// Callbacks that let long work continue or stop.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace tropalign {

/// Called now and then with the number of started items; returning false stops the work.
using Poll = std::function<bool(int64_t)>;

/// Timer for work on the calling thread: polling is due about every 50 ms.
class PollTimer {
  public:
    bool is_due() {
        const auto now = std::chrono::steady_clock::now();
        if (now - polled_ < std::chrono::milliseconds(50)) return false;
        polled_ = now;
        return true;
    }

  private:
    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
};

}  // namespace tropalign

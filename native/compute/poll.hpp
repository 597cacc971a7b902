// What tells long work to go on.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace tropalign {

/// Called now and then with the number of items begun; false stops the work.
using Poll = std::function<bool(int64_t)>;

/// Whether to poll, for work on the calling thread that asks more often than that: about every 50 ms.
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

// Polling now and then in a loop of short steps.
#pragma once
#include <chrono>

#include "../compute/poll.hpp"

namespace tropalign {

/// Calls a poll about every 50 ms; false once the poll has returned false.
class Sometimes {
  public:
    explicit Sometimes(const Poll &poll) : poll_(poll), polled_(Clock::now()) {}

    bool operator()(int64_t done) {
        const auto now = Clock::now();
        if (now - polled_ < std::chrono::milliseconds(50)) return goes_on_;
        polled_ = now;
        return goes_on_ = goes_on_ && poll_(done);
    }

  private:
    using Clock = std::chrono::steady_clock;
    const Poll &poll_;
    Clock::time_point polled_;
    bool goes_on_ = true;
};

}  // namespace tropalign

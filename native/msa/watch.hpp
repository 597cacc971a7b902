// Long work on a second thread while the caller polls, for work that has no items of equal size, such as the rounds of
// a refinement.
#pragma once
#include <atomic>
#include <cstdint>

#include "../compute/parallel.hpp"
#include "../compute/poll.hpp"

namespace tropalign {

/// Progress of long work, and its stop flag.
class Watch {
  public:
    void advance(int64_t items) { done_.fetch_add(items, std::memory_order_relaxed); }
    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

    /// Run work() on a separate thread while the caller polls. Returns false if the poll stopped it: work() must
    /// check is_stopped() every few milliseconds, and its results are then invalid.
    template <class Work>
    bool run(const Poll &poll, Work work) {
        return parallel(
            1, 1, 1, [&](int, int64_t) { work(); },
            [&](int64_t) {
                const bool goes_on = poll(done_.load(std::memory_order_relaxed));
                if (!goes_on) stopped_.store(true, std::memory_order_relaxed);
                return goes_on;
            });
    }

  private:
    std::atomic<int64_t> done_{0};
    std::atomic<bool> stopped_{false};
};

}  // namespace tropalign

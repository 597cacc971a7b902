// Work items over threads, where a finished item may add new ones: the survivors of a stage become items of the
// next stage while other threads still work on the first.
//
//     add at the end ->  | item | item | item |  <- add in front (goes next)
//                          taken from the front; the work ends when nothing waits and nothing runs
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace tropalign {

template <class Item>
class GrowingWork {
  public:
    /// Add items after all that wait.
    void add_last(std::vector<Item> items) {
        std::lock_guard lock(mutex_);
        items_.insert(items_.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
        changed_.notify_all();
    }

    /// Add items in front of all that wait, in their order.
    void add_first(std::vector<Item> items) {
        std::lock_guard lock(mutex_);
        items_.insert(items_.begin(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
        changed_.notify_all();
    }

    /// Call work(item) for all items, on up to n_threads threads, until no item is left; work may add items.
    /// poll() is called in the calling thread about every 50 ms; once it returns false, no further item starts.
    ///
    /// Returns false if poll stopped the work. The first exception of a worker is rethrown here. As in
    /// parallel.hpp the caller only waits, and works itself only if no thread starts.
    template <class Work, class Poll>
    bool run(int n_threads, Work work, Poll poll) {
        auto body = [&](int) { take_all(work, [] { return true; }); };
        {
            Threads threads;
            if (threads.start(0, n_threads, body) == 0) {
                take_all(work, [&, polled = Clock::now()]() mutable {
                    if (Clock::now() - polled < kInterval) return true;
                    polled = Clock::now();
                    return poll_now(poll);
                });
            }
            std::unique_lock lock(mutex_);
            while (!changed_.wait_for(lock, kInterval, [&] { return is_over(); })) {
                if (is_stopped_) continue;
                lock.unlock();
                poll_now(poll);
                lock.lock();
            }
        }
        if (error_) std::rethrow_exception(error_);
        return !is_stopped_;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kInterval{50};

    bool is_over() const { return n_running_ == 0 && (is_stopped_ || items_.empty()); }

    template <class Poll>
    bool poll_now(Poll &poll) {
        try {
            if (poll()) return true;
        } catch (...) {
            fail(std::current_exception());
        }
        stop();
        return false;
    }

    void stop() {
        std::lock_guard lock(mutex_);
        is_stopped_ = true;
        changed_.notify_all();
    }

    void fail(std::exception_ptr error) {
        {
            std::lock_guard lock(mutex_);
            if (!error_) error_ = std::move(error);
        }
        stop();
    }

    template <class Work, class MayGoOn>
    void take_all(Work &work, MayGoOn may_go_on) noexcept {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return is_stopped_ || !items_.empty() || n_running_ == 0; });
            if (is_stopped_ || items_.empty()) return;
            Item item = std::move(items_.front());
            items_.pop_front();
            ++n_running_;
            lock.unlock();
            try {
                if (may_go_on()) work(item);
            } catch (...) {
                fail(std::current_exception());
            }
            lock.lock();
            if (--n_running_ == 0) changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    int n_running_ = 0;
    bool is_stopped_ = false;
    std::exception_ptr error_;
};

}  // namespace tropalign

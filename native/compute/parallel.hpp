// Work items over threads: an atomic counter hands out runs of neighbouring items.
//
// Threads are started per call and joined before it returns. If the system refuses to start a thread (a limit on
// processes, no memory for its stack), fewer threads do the same work with the same result. If no thread starts,
// the calling thread works.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "forks.hpp"

namespace tropalign {

/// Hands out the items [0, n_items), `at_once` neighbours at a time, until all have started or the work is
/// stopped.
class WorkItems {
  public:
    WorkItems(int64_t n_items, int64_t at_once) : n_items_(n_items), at_once_(at_once) {}

    int64_t begun() const { return std::min(next_.load(), n_items_); }
    void stop() { stopped_ = true; }

    /// Stop the work at the first exception, and keep it for rethrow().
    void fail(std::exception_ptr error) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        stopped_ = true;
    }

    /// Rethrow the first exception, once all threads are joined.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    /// Call work(thread, item) for runs of items; may_go_on() is called before each run and stops the work by
    /// returning false.
    template <class Work, class MayGoOn>
    void take(int thread, Work &work, MayGoOn may_go_on) noexcept {
        try {
            while (!stopped_.load(std::memory_order_relaxed) && may_go_on()) {
                const int64_t begin = next_.fetch_add(at_once_), end = std::min(begin + at_once_, n_items_);
                if (begin >= n_items_) break;
                for (int64_t item = begin; item < end && !stopped_.load(std::memory_order_relaxed); ++item)
                    work(thread, item);
            }
        } catch (...) {
            fail(std::current_exception());
        }
    }

  private:
    const int64_t n_items_, at_once_;
    std::atomic<int64_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr error_;
};

/// Threads that are joined at the end of the scope, also after an exception.
class Threads {
  public:
    Threads() = default;
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;
    ~Threads() {
        for (std::thread &thread : threads_) thread.join();
    }

    /// Start body(first), body(first + 1), ...; return how many of `count` the system started. `body` must outlive
    /// this object.
    template <class Body>
    int start(int first, int count, Body &body) {
        try {
            for (int k = 0; k < count; ++k) {
                threads_.reserve(threads_.size() + 1);  // so that no started thread is lost for lack of memory
                std::lock_guard lock(thread_start_lock);
                threads_.emplace_back([&body, thread = first + k] { body(thread); });
            }
        } catch (const std::system_error &) {  // no more threads
        } catch (const std::bad_alloc &) {
        }
        return static_cast<int>(threads_.size());
    }

  private:
    std::vector<std::thread> threads_;
};

/// Return the number of threads that have something to do.
inline int useful_threads(int n_threads, int64_t n_items, int64_t at_once) {
    return static_cast<int>(std::clamp<int64_t>((n_items + at_once - 1) / at_once, 1, n_threads));
}

/// Call work(thread, item) for each item of [0, n_items) on up to n_threads threads, including the caller (thread
/// 0). The first exception of a worker is rethrown here.
template <class Work>
void parallel(int n_threads, int64_t n_items, int64_t at_once, Work work) {
    WorkItems items(n_items, at_once);
    auto body = [&](int thread) { items.take(thread, work, [] { return true; }); };
    {
        Threads threads;
        threads.start(1, useful_threads(n_threads, n_items, at_once) - 1, body);
        body(0);
    }
    items.rethrow();
}

/// Like the above, with poll(items started), called in the calling thread about every 50 ms; once it returns
/// false, no further item starts. Returns false if poll stopped the work.
///
/// The caller only waits, even with a single worker: an item may take seconds (64 long pairs in parallel lanes),
/// and an interrupt or a progress report must not wait for its end. Only if no thread starts does the caller work
/// itself; it then polls between runs of items.
template <class Work, class Poll>
bool parallel(int n_threads, int64_t n_items, int64_t at_once, Work work, Poll poll) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kInterval(50);
    WorkItems items(n_items, at_once);
    std::mutex mutex;
    std::condition_variable finished;
    int running = 0;
    bool go_on = true;
    auto poll_now = [&] {
        try {
            go_on = poll(items.begun());
        } catch (...) {
            items.fail(std::current_exception());
            go_on = false;
        }
        if (!go_on) items.stop();
    };
    auto body = [&](int thread) {
        items.take(thread, work, [] { return true; });
        std::lock_guard lock(mutex);
        if (--running == 0) finished.notify_all();
    };
    {
        Threads threads;
        std::unique_lock lock(mutex);  // no worker finishes before all are counted
        running = threads.start(0, useful_threads(n_threads, n_items, at_once), body);
        if (running == 0) {
            auto polled = Clock::now();
            items.take(0, work, [&] {
                if (Clock::now() - polled < kInterval) return true;
                poll_now();
                polled = Clock::now();
                return go_on;
            });
        }
        while (!finished.wait_for(lock, kInterval, [&] { return running == 0; })) {
            if (!go_on) continue;
            lock.unlock();
            poll_now();
            lock.lock();
        }
    }
    items.rethrow();
    return go_on;
}

}  // namespace tropalign

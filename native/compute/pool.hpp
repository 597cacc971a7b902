// Work items over threads: an atomic counter hands out runs of neighbouring items, the caller waits and polls.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tropalign {

/// Calls work(thread, item) for each item of [0, n_items) on n_threads threads. `poll(done)` is called in the calling
/// thread about every 50 ms with the number of items begun; when it returns false no further item begins.
/// Returns false when it was stopped so. The first exception of a worker is thrown again here.
template <class Work, class Poll>
bool parallel(int n_threads, int64_t n_items, int64_t items_at_once, Work work, Poll poll) {
    std::atomic<int64_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable finished;
    int running = n_threads;
    std::exception_ptr error;
    auto worker = [&](int thread) {
        try {
            while (!stop.load(std::memory_order_relaxed)) {
                int64_t begin = next.fetch_add(items_at_once);
                if (begin >= n_items) break;
                int64_t end = std::min(begin + items_at_once, n_items);
                for (int64_t item = begin; item < end && !stop.load(std::memory_order_relaxed); ++item) work(thread, item);
            }
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
            stop = true;
        }
        std::lock_guard lock(mutex);
        if (--running == 0) finished.notify_all();
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; ++t) threads.emplace_back(worker, t);
    bool go_on = true;
    {
        std::unique_lock lock(mutex);
        while (running > 0) {
            if (finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) break;
            if (!go_on) continue;
            lock.unlock();
            go_on = poll(std::min(next.load(), n_items));
            lock.lock();
            if (!go_on) stop = true;
        }
    }
    for (auto &thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
    return go_on;
}

}  // namespace tropalign

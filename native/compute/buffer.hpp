// Uninitialised memory. Large pieces take huge pages (a page fault per 4 KiB would cost more than the work),
// and some returned pieces stay mapped for the next tile: the operating system zeroes every fresh page, which took
// a tenth of the time of an alignment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tropalign {

/// A piece aligned for any vector, maybe larger than requested. take_memory throws std::bad_alloc.
struct Memory {
    void *data = nullptr;
    size_t bytes = 0;
};
Memory take_memory(size_t bytes);
void give_back(Memory memory) noexcept;
/// Limit the returned bytes that may stay mapped from now on; never more than 96 MiB.
void keep_at_most(size_t bytes);

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) : memory_(take_memory(size * sizeof(T))), size_(size) {}
    Buffer(Buffer &&other) noexcept { *this = std::move(other); }
    Buffer &operator=(Buffer &&other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() { give_back(memory_); }

    T *data() { return static_cast<T *>(memory_.data); }
    const T *data() const { return static_cast<const T *>(memory_.data); }
    size_t size() const { return size_; }
    T &operator[](size_t k) { return data()[k]; }
    const T &operator[](size_t k) const { return data()[k]; }

  private:
    Memory memory_;
    size_t size_ = 0;
};

}  // namespace tropalign

// Uninitialised memory that asks for huge pages where it is large: a page fault a 4 KiB would cost more than the work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tropalign {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) : size_(size) {
        constexpr size_t huge = size_t{2} << 20;
        const size_t bytes = size * sizeof(T), page = bytes >= 2 * huge ? huge : 64;
        data_ = static_cast<T *>(std::aligned_alloc(page, (bytes + page) / page * page));
        if (!data_) throw std::bad_alloc();
#if defined(__linux__)
        if (page == huge) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    }
    Buffer(Buffer &&other) noexcept { *this = std::move(other); }
    Buffer &operator=(Buffer &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    T *data() { return data_; }
    size_t size() const { return size_; }
    T &operator[](size_t k) { return data_[k]; }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace tropalign

#include "buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "forks.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tropalign {
namespace {

constexpr size_t kHuge = size_t{2} << 20;
constexpr size_t kLarge = size_t{1} << 16;  // pieces of at least this many bytes are kept
constexpr size_t kMostKeptBytes = size_t{96} << 20;

// Returned pieces, oldest first. Never destroyed, because threads may still return pieces while the process ends.
std::vector<Memory> &kept = *new std::vector<Memory>;
size_t kept_bytes = 0, allowed_bytes = kMostKeptBytes;

/// Free the oldest pieces until at most `bytes` are kept; the caller holds the lock.
void keep_no_more_than(size_t bytes) {
    while (!kept.empty() && kept_bytes > bytes) {
        kept_bytes -= kept.front().bytes;
        std::free(kept.front().data);
        kept.erase(kept.begin());
    }
}

/// Take a kept piece of `bytes` up to a quarter more; an empty Memory if there is no such piece.
Memory take_kept(size_t bytes) {
    std::lock_guard lock(kept_memory_lock);
    for (size_t k = kept.size(); k-- > 0;)
        if (kept[k].bytes >= bytes && kept[k].bytes <= bytes + bytes / 4) {
            Memory memory = kept[k];
            kept.erase(kept.begin() + static_cast<ptrdiff_t>(k));
            kept_bytes -= memory.bytes;
            return memory;
        }
    return {};
}

}  // namespace

Memory take_memory(size_t bytes) {
    const size_t page = bytes >= 2 * kHuge ? kHuge : 64;
    bytes = (bytes + 64 + page - 1) / page * page;
    if (bytes >= kLarge)
        if (Memory memory = take_kept(bytes); memory.data) return memory;
    Memory memory{std::aligned_alloc(page, bytes), bytes};
    if (!memory.data) throw std::bad_alloc();
#if defined(__linux__)
    if (page == kHuge) madvise(memory.data, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void keep_at_most(size_t bytes) {
    std::lock_guard lock(kept_memory_lock);
    allowed_bytes = std::min(bytes, kMostKeptBytes);
    keep_no_more_than(allowed_bytes);
}

void give_back(Memory memory) noexcept {
    if (memory.bytes >= kLarge) {
        std::lock_guard lock(kept_memory_lock);
        if (memory.bytes <= allowed_bytes) {
            keep_no_more_than(allowed_bytes - memory.bytes);
            kept.push_back(memory);
            kept_bytes += memory.bytes;
            return;
        }
    }
    std::free(memory.data);
}

}  // namespace tropalign

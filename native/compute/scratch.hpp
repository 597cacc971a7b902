// Buffers of one thread, kept from one piece of work to the next so that their pages stay mapped.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "buffer.hpp"

namespace tropalign {

/// One buffer per value of the enumeration `Slot`, whose last value is `count`.
template <class Slot>
class Scratch {
  public:
    Scratch() = default;
    /// All buffers together stay within `limit` bytes as long as no single piece of work needs more.
    explicit Scratch(size_t limit) : limit_(limit) {}

    /// Bytes that get() allocates for a request of `size` bytes.
    static constexpr size_t taken(size_t size) { return size + size / 8 + 64; }

    /// Start a piece of work that takes `needed` bytes (the sum of what get() allocates). If these and the buffers
    /// held may pass the limit, buffers larger than requested are replaced, and buffers not yet used by this work
    /// may be freed.
    void begin(size_t needed) {
        ++now_;
        is_tight_ = bytes_ + needed > limit_;
    }

    /// Return at least `size` bytes, 64-byte aligned; the content is lost if the buffer is replaced.
    void *get(Slot slot, size_t size) {
        Piece &piece = pieces_[static_cast<size_t>(slot)];
        const size_t had = piece.memory.size();
        const bool is_new = piece.used != now_;
        piece.used = now_;
        if (had < size + 64 || (is_tight_ && is_new && had > taken(size))) {
            drop(piece);
            if (bytes_ + taken(size) > limit_)
                for (Piece &other : pieces_)
                    if (other.used != now_) drop(other);
            piece.memory = Buffer<uint8_t>(taken(size));
            bytes_ += piece.memory.size();
            if (bytes_ > most_bytes_) most_bytes_ = bytes_;
        }
        return piece.memory.data();
    }

    /// Peak of the bytes held.
    size_t most_bytes() const { return most_bytes_; }

  private:
    struct Piece {
        Buffer<uint8_t> memory;
        uint64_t used = 0;  // number of the last piece of work that used it
    };

    void drop(Piece &piece) {
        bytes_ -= piece.memory.size();
        piece.memory = Buffer<uint8_t>();
    }

    std::array<Piece, static_cast<size_t>(Slot::count)> pieces_;
    size_t limit_ = SIZE_MAX, bytes_ = 0, most_bytes_ = 0;
    uint64_t now_ = 1;
    bool is_tight_ = false;
};

}  // namespace tropalign

// Residues of a unit's sequences, interleaved by lanes.
//
// The input is ordered by sequence, a sweep needs it by lane. Both are stored in blocks of 16 residues; with 64
// lanes a block is
//
//     as gathered    bytes 0..15        16..31             32..47             48..63
//     vector 0       lane 0: k0..k15    lane 16: k0..k15   lane 32: k0..k15   lane 48: k0..k15
//     vector 1       lane 1: k0..k15    lane 17: ...       lane 33: ...       lane 49: ...
//     ...
//     vector 15      lane 15: k0..k15   lane 31: ...       lane 47: ...       lane 63: ...
//
// and transpose16, which works within each 16 bytes, converts it to
//
//     vector k       residue k of the lanes 0..15, 16..31, 32..47, 48..63
//
// For example residue 5 of lane 34 is gathered to byte 2 * 16 + 5 of vector 2, and then moves to byte 34 of vector
// 5. Columns are kept transposed, rows as gathered: PairScores looks scores up for 16 rows of a lane at once.
#pragma once
#include <algorithm>
#include <cstring>

#include "../simd/bytes.hpp"
#include "interface.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Lanes of a vector of residues: narrow units still use whole vectors of 16 bytes.
template <class T, int B>
inline constexpr int kTableLanes = Lanes<T, B>::count < 16 ? 16 : Lanes<T, B>::count;

/// Return the index of residue k of a lane in blocks as gathered.
template <int kTable>
[[gnu::always_inline]] inline size_t gathered_index(int lane, int k) {
    return static_cast<size_t>(k / 16) * 16 * kTable + lane % 16 * kTable + lane / 16 * 16 + k % 16;
}

inline constexpr int whole_blocks(int letters) { return (letters + 15) / 16 * 16; }

/// One side of a unit: the rows or the columns of all lanes, each lane's sequence starting at start[lane].
template <int kTable>
class Side {
  public:
    static constexpr int kLanes = kTable;

    /// `track`: the offset of a second track's codes.
    Side(const Unit &unit, Letters LanePair::*letters, const int32_t *start, ptrdiff_t track = 0)
        : unit_(unit), letters_(letters), start_(start), track_(track) {}

    /// Gather residues starting at `begin` in whole blocks. `padded` has room for kTable times the width.
    void gather(int begin, int count, uint8_t *padded, int8_t *out) const {
        const int width = whole_blocks(count);
        pad(begin, width, padded);
        for (int k = 0; k < width; k += 16) gather16(padded, width, k, out + static_cast<size_t>(k) * kTable);
    }

    /// Interleave residues transposed: one vector of lanes per residue.
    void transpose(int begin, int count, uint8_t *padded, uint8_t *out) const {
        const int width = whole_blocks(count);
        pad(begin, width, padded);
        for (int at = 0; at < width; at += 16) {
            alignas(64) int8_t block[16 * kTable];
            gather16(padded, width, at, block);
            Vec<int8_t, kTable> v[16];
            for (int k = 0; k < 16; ++k) v[k] = load<int8_t, kTable>(block + k * kTable);
            transpose16<kTable>(v);
            for (int k = 0; k < 16; ++k) store<int8_t, kTable>(out + static_cast<size_t>(at + k) * kTable, v[k]);
        }
    }

  private:
    /// Fill a table of kTable rows of `width` bytes: the lane's residues starting at `begin`, surrounded by
    /// padding.
    void pad(int begin, int width, uint8_t *padded) const {
        std::memset(padded, kPadCode, static_cast<size_t>(kTable) * width);
        for (int l = 0; l < unit_.n_lanes; ++l) {
            const Letters &letters = unit_.lane[l].*letters_;
            const int from = std::max(begin - start_[l], 0), to = std::min(begin + width - start_[l], letters.length);
            if (to <= from) continue;
            uint8_t *out = padded + static_cast<size_t>(l) * width + (start_[l] + from - begin);
            std::memcpy(out, letters.codes + track_ + from, static_cast<size_t>(to - from));
        }
    }

    static void gather16(const uint8_t *padded, int width, int at, int8_t *out) {
        for (int l = 0; l < kTable; ++l)
            std::memcpy(out + gathered_index<kTable>(l, 0), padded + static_cast<size_t>(l) * width + at, 16);
    }

    const Unit &unit_;
    Letters LanePair::*letters_;
    const int32_t *start_;
    const ptrdiff_t track_;
};

}  // namespace tropalign::TROPALIGN_ISA

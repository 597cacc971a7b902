// Four comparison results per lane, stored for each vector of cells.
//
//  * x86-64: four words of `Bits`, one per comparison (vec.hpp).
//  * NEON has no instruction from lanes to bits. The results stay lanes until all four are there; three selections mix
//    the bits of a to d, and a narrowing shift keeps half a byte of each byte: 4 instructions for all four results;
//    words take 6 for each. A sweep takes 23 instructions per vector of cells with them, 53 with words (int8,
//    global mode; 14.5 without directions), and alignments of proteins of 257 residues take 2.4 and 2.2 instructions
//    per cell, traceback and CIGARs included, instead of 4.8 and 4.3 (local, global; executed, counted under qemu).
//    Two lanes of 8 bits:
//
//                 lane 1          lane 0
//      a          aaaaaaaa        aaaaaaaa      all ones or 0
//      selected   dcbadcba        dcbadcba
//      kept           dcba  dcba
#pragma once
#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

#if defined(__ARM_NEON)

template <class T, int B>
using Answer = Vec<T, B>;

/// Compare lanes: a > b.
template <class T, int B>
[[gnu::always_inline]] inline Answer<T, B> gt_answer(Vec<T, B> a, Vec<T, B> b) {
    return a > b;
}

template <class T, int B>
struct Masks {
    static_assert(B == 16);
    struct Pending {
        uint8x16_t answer[4];
    };
    uint64_t bits;

    /// Add result k; results must be added in order, and the last one completes the bits.
    template <int k>
    [[gnu::always_inline]] void put(Pending &pending, Answer<T, B> answer) {
        pending.answer[k] = (uint8x16_t)answer;
        if constexpr (k < 3) return;
        const uint8x16_t odd = vdupq_n_u8(0x55), low = vdupq_n_u8(0x33);
        const uint8x16_t first = vbslq_u8(odd, pending.answer[0], pending.answer[1]);
        const uint8x16_t second = vbslq_u8(odd, pending.answer[2], pending.answer[3]);
        const uint16x8_t all = vreinterpretq_u16_u8(vbslq_u8(low, first, second));
        bits = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(all, 4)), 0);
    }

    /// Bit offset of a lane, for `bit`.
    static constexpr int place(int lane) { return lane * 4 * static_cast<int>(sizeof(T)); }
    [[gnu::always_inline]] unsigned bit(int place, int answer) const { return bits >> (place + answer) & 1; }
};

#else

template <class T, int B>
using Answer = typename Lanes<T, B>::Bits;

/// Compare lanes: a > b.
template <class T, int B>
[[gnu::always_inline]] inline Answer<T, B> gt_answer(Vec<T, B> a, Vec<T, B> b) {
    return gt_bits<T, B>(a, b);
}

template <class T, int B>
struct Masks {
    struct Pending {};
    Answer<T, B> word[4];

    /// Add result k; results must be added in order.
    template <int k>
    [[gnu::always_inline]] void put(Pending, Answer<T, B> answer) {
        word[k] = answer;
    }

    /// Bit offset of a lane, for `bit`.
    static constexpr int place(int lane) { return lane * Lanes<T, B>::bits_per_lane; }
    [[gnu::always_inline]] unsigned bit(int place, int answer) const { return (word[answer] >> place) & 1; }
};

#endif

}  // namespace tropalign::TROPALIGN_ISA

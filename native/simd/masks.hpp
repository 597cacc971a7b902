// Four answers per lane, as they are kept for each vector of cells.
//
//  * x86-64: four words of `Bits`, one per answer (vec.hpp).
//  * NEON has no instruction from lanes to bits. The answers stay lanes until all four are there; three selections mix
//    the bits of a to d, and a shift that narrows keeps half a byte of each byte: 4 instructions for all four answers
//    where a word takes 6 each. With them a sweep takes 23 instructions per vector of cells, with words 53 (int8,
//    global mode; 14.5 without directions). Two lanes of 8 bits:
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

/// Lanes in which a > b.
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

    /// Takes answer k; they come in turn, and the last one completes them.
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

    /// Where the bits of a lane are, for `bit`.
    static constexpr int place(int lane) { return lane * 4 * static_cast<int>(sizeof(T)); }
    [[gnu::always_inline]] unsigned bit(int place, int answer) const { return bits >> (place + answer) & 1; }
};

#else

template <class T, int B>
using Answer = typename Lanes<T, B>::Bits;

/// Lanes in which a > b.
template <class T, int B>
[[gnu::always_inline]] inline Answer<T, B> gt_answer(Vec<T, B> a, Vec<T, B> b) {
    return gt_bits<T, B>(a, b);
}

template <class T, int B>
struct Masks {
    struct Pending {};
    Answer<T, B> word[4];

    /// Takes answer k; they come in turn.
    template <int k>
    [[gnu::always_inline]] void put(Pending, Answer<T, B> answer) {
        word[k] = answer;
    }

    /// Where the bits of a lane are, for `bit`.
    static constexpr int place(int lane) { return lane * Lanes<T, B>::bits_per_lane; }
    [[gnu::always_inline]] unsigned bit(int place, int answer) const { return (word[answer] >> place) & 1; }
};

#endif

}  // namespace tropalign::TROPALIGN_ISA

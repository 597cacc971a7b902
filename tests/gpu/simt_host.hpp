// The kernel dialect on the host: every work-item is a fibre, and a barrier switches to the next one.
// Comes before simt.h. Group by group, one after another; simt_launch runs a kernel over all of them.
#pragma once
#include "simt_standard.hpp"

#define SIMT_HOST
#ifndef SIMT_WORD
#define SIMT_WORD 16
#endif
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long simt_long;

struct SimtState {
    int lane = 0, group = 0;
    ucontext_t main;
    std::vector<ucontext_t> fibre;
    std::vector<char> done;
    std::vector<std::vector<char>> stack;
    std::function<void()> body;
};
inline SimtState simt;

inline void simt_switch() {
    const int me = simt.lane;
    swapcontext(&simt.fibre[me], &simt.main);
}

inline void simt_entry() {
    simt.body();
    simt.done[simt.lane] = 1;
    simt_switch();
}

/// Runs `body` once for each work-item. A barrier that some items of a group reach and others do not ends the program.
inline void simt_launch(int groups, int group_size, std::function<void()> body) {
    constexpr size_t kStack = 256 * 1024;
    simt.body = std::move(body);
    simt.fibre.resize(group_size);
    simt.stack.resize(group_size);
    for (auto &stack : simt.stack) stack.resize(kStack);
    for (simt.group = 0; simt.group < groups; ++simt.group) {
        simt.done.assign(group_size, 0);
        for (int k = 0; k < group_size; ++k) {
            getcontext(&simt.fibre[k]);
            simt.fibre[k].uc_stack.ss_sp = simt.stack[k].data();
            simt.fibre[k].uc_stack.ss_size = kStack;
            simt.fibre[k].uc_link = nullptr;
            makecontext(&simt.fibre[k], simt_entry, 0);
        }
        for (int ended = 0; ended < group_size;) {
            ended = 0;
            for (int k = 0; k < group_size; ++k) {
                simt.lane = k;
                swapcontext(&simt.main, &simt.fibre[k]);
                ended += simt.done[k];
            }
            if (ended != 0 && ended != group_size) {
                std::fprintf(stderr, "divergent barrier: %d of %d work-items ended in group %d\n", ended, group_size,
                             simt.group);
                std::abort();
            }
        }
    }
}

#define SIMT_KERNEL(group_size) static void
#define SIMT_FN static inline
#define SIMT_GLOBAL
#define SIMT_SHARED
#define SIMT_SHARED_ARRAY static
#define SIMT_RESTRICT __restrict__
#define SIMT_LANE (simt.lane)
#define SIMT_GROUP (simt.group)
#define SIMT_BARRIER() simt_switch()
#define SIMT_UNROLL
struct simt_pair {
    float x, y;
};
struct alignas(16) simt_quad {
    uint x, y, z, w;
};
#define SIMT_FMA(a, b, c) ((a) * (b) + (c))
SIMT_FN float simt_root(float a) { return std::sqrt(a); }
SIMT_FN float simt_larger(float a, float b) { return std::max(a, b); }
SIMT_FN float simt_smaller(float a, float b) { return std::min(a, b); }
SIMT_FN uint simt_bits(float a) {
    uint bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits;
}
SIMT_FN float simt_float(uint bits) {
    float a;
    std::memcpy(&a, &bits, sizeof a);
    return a;
}
SIMT_FN int simt_count(uint a) { return __builtin_popcount(a); }
SIMT_FN int simt_min3(int a, int b, int c) { return std::min({a, b, c}); }
#define SIMT_LOW_BYTE(a, b, k) (((a) & 0xffffff00u) | ((b) >> 8 * (k) & 255u))
SIMT_FN uint simt_low_bytes(uint a, uint b, uint c) { return a << 24 | (b & 255u) << 16 | (c & 255u) << 8; }

#if SIMT_WORD == 16
struct word_t {
    int16_t lo, hi;
};
SIMT_FN int16_t w_wrap_(int a) { return static_cast<int16_t>(static_cast<uint16_t>(a)); }
SIMT_FN word_t w_set(int lo, int hi) { return {w_wrap_(lo), w_wrap_(hi)}; }
SIMT_FN int w_lo(word_t a) { return a.lo; }
SIMT_FN int w_hi(word_t a) { return a.hi; }
SIMT_FN uint w_bits(word_t a) { return static_cast<ushort>(a.lo) | static_cast<uint>(static_cast<ushort>(a.hi)) << 16; }
SIMT_FN word_t w_from_bits(uint a) { return w_set(static_cast<int>(a & 0xffff), static_cast<int>(a >> 16)); }
SIMT_FN word_t w_add(word_t a, word_t b) { return w_set(a.lo + b.lo, a.hi + b.hi); }
SIMT_FN word_t w_max(word_t a, word_t b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
SIMT_FN word_t w_max3(word_t a, word_t b, word_t c) { return w_max(w_max(a, b), c); }
SIMT_FN word_t w_addmax(word_t a, word_t b, word_t c) { return w_max(w_add(a, b), c); }
SIMT_FN word_t w_addmin(word_t a, word_t b, word_t c) {
    const word_t sum = w_add(a, b);
    return {std::min(sum.lo, c.lo), std::min(sum.hi, c.hi)};
}
SIMT_FN word_t w_min3(word_t a, word_t b, word_t c) {
    return {std::min({a.lo, b.lo, c.lo}), std::min({a.hi, b.hi, c.hi})};
}
SIMT_FN word_t w_sum(word_t a, word_t b) { return w_from_bits(w_bits(a) + w_bits(b)); }
SIMT_FN word_t w_odd(word_t a) { return w_set(a.lo | 1, a.hi | 1); }
SIMT_FN word_t w_join(word_t a, word_t b) { return {a.lo, b.lo}; }
SIMT_FN uint w_pack_bytes(word_t a, word_t b) {
    return (a.lo & 255u) | (b.lo & 255u) << 8 | (a.hi & 255u) << 16 | (b.hi & 255u) << 24;
}
#else
SIMT_FN int w_max_(int a, int b) { return std::max(a, b); }
#endif

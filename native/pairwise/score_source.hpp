// Where a sweep finds s(i,j) for every lane: C columns at a time, a vector a cell.
//
//  * ProfileScores: all lanes share the row sequence. One vector a letter and column (a byte look-up each) then
//    serves every row with that letter: one load a cell.
//  * PairScores: every lane has rows of its own. The scores of 16 rows of a lane are one byte look-up in the matrix
//    row of the lane's column letter; a 16 x 16 byte transposition (4 unpacks a vector) turns 16 lanes' rows into
//    rows of lanes: about 11 operations a cell-vector, on every instruction set.
// A matrix beyond 8 bits is filled in letter by letter.
#pragma once
#include "sweep.hpp"
#include "unit.hpp"

namespace tropalign::TROPALIGN_ISA {

/// The first 8-bit numbers at p, one a lane. (GCC 12 takes __builtin_convertvector apart lane by lane.)
template <class T, int B>
[[gnu::always_inline]] inline Vec<T, B> widen(const int8_t *p) {
    if constexpr (sizeof(T) == 1) return load<T, B>(p);
#if defined(__AVX512BW__)
    else if constexpr (B == 64 && sizeof(T) == 2) return (Vec<T, B>)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
    else if constexpr (B == 64) return (Vec<T, B>)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
#endif
#if defined(__AVX2__)
    else if constexpr (B == 32 && sizeof(T) == 2) return (Vec<T, B>)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
    else if constexpr (B == 32) return (Vec<T, B>)_mm256_cvtepi8_epi32(_mm_loadu_si64(p));
#endif
#if defined(__SSE4_1__)
    else if constexpr (sizeof(T) == 2) return (Vec<T, B>)_mm_cvtepi8_epi16(_mm_loadu_si64(p));
    else return (Vec<T, B>)_mm_cvtepi8_epi32(_mm_loadu_si32(p));
#else
    else {
        Vec<T, B> v;
        for (int l = 0; l < Lanes<T, B>::count; ++l) v[l] = p[l];
        return v;
    }
#endif
}

template <class T, int B>
class ProfileScores {
  public:
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = L < 16 ? 16 : L;  // bytes of a narrow vector

    /// `memory`: room for profile_bytes() + rows offsets.
    ProfileScores(const Scoring &scoring, const uint8_t *rows, int m, const uint8_t *columns, void *memory)
        : scoring_(scoring), columns_(columns) {
        profile_ = static_cast<Vec<T, B> *>(memory);
        offset_ = reinterpret_cast<uint16_t *>(profile_ + kLetters * kColumns);
        int slot[kLetters];
        for (int &s : slot) s = -1;
        for (int i = 0; i < m; ++i) {
            int a = rows[i];
            if (slot[a] < 0) slot[a] = n_letters_, letter_[n_letters_++] = static_cast<uint8_t>(a);
            offset_[i] = static_cast<uint16_t>(slot[a] * kColumns * B);
        }
    }
    static size_t bytes(int m) { return sizeof(Vec<T, B>) * kLetters * kColumns + sizeof(uint16_t) * (m + 64); }

    template <int C>
    void columns(int j) {
        for (int c = 0; c < C; ++c) {
            const uint8_t *letters = columns_ + static_cast<size_t>(j + c) * kTable;
            if (scoring_.step_fits8) {
                auto index = load<int8_t, kTable>(letters);
                for (int a = 0; a < n_letters_; ++a) {
                    auto narrow = lookup32<kTable>(scoring_.step8 + letter_[a] * kLetters, index);
                    if constexpr (sizeof(T) == 1 && kTable == B) {
                        profile_[a * kColumns + c] = narrow;
                    } else {
                        alignas(64) int8_t byte[kTable];
                        store<int8_t, kTable>(byte, narrow);
                        profile_[a * kColumns + c] = widen<T, B>(byte);
                    }
                }
            } else {
                for (int a = 0; a < n_letters_; ++a) {
                    alignas(64) T lanes[L];
                    for (int l = 0; l < L; ++l)
                        lanes[l] = static_cast<T>(scoring_.step[letter_[a] * kLetters + letters[l]]);
                    profile_[a * kColumns + c] = load<T, B>(lanes);
                }
            }
        }
    }
    [[gnu::always_inline]] Vec<T, B> score(int i, int c) const {
        return *reinterpret_cast<const Vec<T, B> *>(reinterpret_cast<const char *>(profile_ + c) + offset_[i]);
    }

  private:
    const Scoring &scoring_;
    const uint8_t *columns_;
    Vec<T, B> *profile_;
    uint16_t *offset_;
    int n_letters_ = 0;
    uint8_t letter_[kLetters];
};

template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> unpack_low(Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int8_t, B>)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return (Vec<int8_t, B>)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (B == 16) return (Vec<int8_t, B>)_mm_unpacklo_epi8((__m128i)a, (__m128i)b);
#else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#endif
}
template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> unpack_high(Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int8_t, B>)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return (Vec<int8_t, B>)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (B == 16) return (Vec<int8_t, B>)_mm_unpackhi_epi8((__m128i)a, (__m128i)b);
#else
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#endif
}

/// Within each 16 bytes: byte r of vector l goes to byte l of vector r.
template <int B>
[[gnu::always_inline]] inline void transpose16(Vec<int8_t, B> (&v)[16]) {
    for (int stage = 0; stage < 4; ++stage) {
        Vec<int8_t, B> w[16];
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            w[2 * k] = unpack_low<B>(v[k], v[k + 8]);
            w[2 * k + 1] = unpack_high<B>(v[k], v[k + 8]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < 16; ++k) v[k] = w[k];
    }
}

template <class T, int B>
class PairScores {
  public:
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = L < 16 ? 16 : L;

    /// rows16: the row letters, 16 rows and 16 lanes a block (see interleave_rows); m rounded up to 16.
    PairScores(const Scoring &scoring, const int8_t *rows16, int m, const uint8_t *columns, void *memory)
        : scoring_(scoring), rows16_(rows16), m_(m), columns_(columns), score_(static_cast<int8_t *>(memory)),
          wide_(reinterpret_cast<T *>(memory)) {}
    static size_t bytes(int m) { return static_cast<size_t>(m + 16) * kColumns * (B > kTable ? B : kTable); }

    template <int C>
    void columns(int j) {
        letters<C>(columns_ + static_cast<size_t>(j) * kTable);
    }
    /// The same for C columns of kTable letters given.
    template <int C>
    void letters(const uint8_t *columns) {
        for (int c = 0; c < C; ++c) {
            if (scoring_.step_fits8) fill_narrow(columns + c * kTable, c);
            else fill_wide(columns + c * kTable, c);
        }
    }
    [[gnu::always_inline]] Vec<T, B> score(int i, int c) const {
        if constexpr (sizeof(T) == 1) return load<T, B>(score_ + (static_cast<size_t>(i) * kColumns + c) * kTable);
        else if (scoring_.step_fits8) return widen<T, B>(score_ + (static_cast<size_t>(i) * kColumns + c) * kTable);
        else return load<T, B>(wide_ + (static_cast<size_t>(i) * kColumns + c) * L);
    }

  private:
    void fill_narrow(const uint8_t *letters, int c) {
        using V = Vec<int8_t, kTable>;
        alignas(64) int8_t low[16][kTable], high[16][kTable];  // the matrix row of each lane's column letter
        for (int l = 0; l < kTable; ++l) {
            const int8_t *row = scoring_.step8 + letters[l] * kLetters;
            std::memcpy(low[l % 16] + l / 16 * 16, row, 16);
            std::memcpy(high[l % 16] + l / 16 * 16, row + 16, 16);
        }
        const int8_t *rows = rows16_;
        for (int i = 0; i < m_; i += 16, rows += 16 * kTable) {
            V v[16];
#pragma GCC unroll 16
            for (int l = 0; l < 16; ++l) {
                V index = load<int8_t, kTable>(rows + l * kTable);
                v[l] = shuffle16(load<int8_t, kTable>(low[l]), index + static_cast<int8_t>(0x70)) |
                       shuffle16(load<int8_t, kTable>(high[l]), index - static_cast<int8_t>(16));
            }
            transpose16<kTable>(v);
#pragma GCC unroll 16
            for (int r = 0; r < 16; ++r)
                store<int8_t, kTable>(score_ + (static_cast<size_t>(i + r) * kColumns + c) * kTable, v[r]);
        }
    }
    void fill_wide(const uint8_t *letters, int c) {
        for (int i = 0; i < m_; ++i)
            for (int l = 0; l < L; ++l) {
                int a = rows16_[static_cast<size_t>(i / 16) * 16 * kTable + (l % 16) * kTable + l / 16 * 16 + i % 16];
                wide_[(static_cast<size_t>(i) * kColumns + c) * L + l] =
                    static_cast<T>(scoring_.step[letters[l] * kLetters + a]);
            }
    }
    /// pshufb: a byte of `table` (its own 16) by each index; 0 where bit 7 of the index is set.
    [[gnu::always_inline]] static Vec<int8_t, kTable> shuffle16(Vec<int8_t, kTable> table, Vec<int8_t, kTable> index) {
#if defined(__AVX512BW__)
        if constexpr (kTable == 64) return (Vec<int8_t, kTable>)_mm512_shuffle_epi8((__m512i)table, (__m512i)index);
#endif
#if defined(__AVX2__)
        if constexpr (kTable == 32) return (Vec<int8_t, kTable>)_mm256_shuffle_epi8((__m256i)table, (__m256i)index);
#endif
#if defined(__SSE4_1__)
        if constexpr (kTable == 16) return (Vec<int8_t, kTable>)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#elif defined(__ARM_NEON)
        const int8x16_t places = vandq_s8((int8x16_t)index, vdupq_n_s8(static_cast<int8_t>(0x8f)));
        return (Vec<int8_t, kTable>)vqtbl1q_s8((int8x16_t)table, (uint8x16_t)places);
#else
        Vec<int8_t, kTable> out;
        for (int k = 0; k < kTable; ++k) out[k] = index[k] < 0 ? 0 : table[k / 16 * 16 + (index[k] & 15)];
        return out;
#endif
    }

    const Scoring &scoring_;
    const int8_t *rows16_;
    int m_;
    const uint8_t *columns_;
    int8_t *score_;
    T *wide_;
};

/// Scores of lanes with rows of their own when both sequences together use so few letters that all their pairs fit a
/// table of 32: one look-up a cell, and no table of scores.
template <int B>
class FewLetterScores {
  public:
    /// Whether the letters of the two sequences are few enough.
    static bool suits(const Scoring &scoring, const LanePair &pair) {
        return scoring.step_fits8 && count(pair.rows) * count(pair.columns) <= kLetters;
    }
    FewLetterScores(const Scoring &scoring, const LanePair &pair) {
        std::memset(row_place_, 0, sizeof row_place_);
        std::memset(column_place_, 0, sizeof column_place_);
        const uint32_t row_letters = used(pair.rows), column_letters = used(pair.columns);
        const int n = __builtin_popcount(column_letters);
        for (int a = 0, r = 0; a < kLetters; ++a) {
            if (!(row_letters >> a & 1)) continue;
            row_place_[a] = static_cast<uint8_t>(r++ * n);
            for (int b = 0, c = 0; b < kLetters; ++b)
                if (column_letters >> b & 1) {
                    column_place_[b] = static_cast<uint8_t>(c);
                    table_[row_place_[a] + c++] = scoring.step8[a * kLetters + b];
                }
        }
    }
    uint8_t row_place(uint8_t letter) const { return row_place_[letter]; }
    void rows(const Vec<int8_t, B> *places) { rows_ = places; }

    template <int C>
    void letters(const uint8_t *columns) {
        for (int c = 0; c < C; ++c) {
            alignas(64) uint8_t place[B];
            for (int l = 0; l < B; ++l) place[l] = column_place_[columns[c * B + l]];
            columns_[c] = load<int8_t, B>(place);
        }
    }
    [[gnu::always_inline]] Vec<int8_t, B> score(int i, int c) const { return lookup32<B>(table_, rows_[i] + columns_[c]); }

  private:
    static uint32_t used(const Letters &letters) {
        uint32_t bits = 0;
        for (int k = 0; k < letters.length; ++k) bits |= uint32_t{1} << letters.codes[k];
        return bits;
    }
    static int count(const Letters &letters) { return __builtin_popcount(used(letters)); }

    alignas(64) int8_t table_[kLetters] = {};
    uint8_t row_place_[kLetters], column_place_[kLetters];
    const Vec<int8_t, B> *rows_ = nullptr;
    Vec<int8_t, B> columns_[kColumns];
};

}  // namespace tropalign::TROPALIGN_ISA

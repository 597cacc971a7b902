// Scores of a vector of cells whose row letters and column letters lie side by side: letters as numbers, whose sum says
// where in a table the score is. With c column letters a table of n scores holds n / c row letters; which of the tables
// is that of the row's letter is its group:
//
//     table 0                 table 1                 ...       row letter r: group r / (n / c),
//     |r0 x c|r1 x c|...|     |r6 x c|r7 x c|...|               number (r % (n / c)) c, to which the column's is added
//
//  * FewLetters: one table of 32, on every instruction set. Nucleotides.
//  * ManyLetters: four tables of 128, where one instruction looks bytes up in 128 (VBMI). Proteins.
#pragma once
#include "../simd/bytes.hpp"
#include "scoring.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int Tables, int Entries>
class LetterTables {
  public:
    static bool suits(const Scoring &scoring, const LanePair &pair) {
        const int rows = __builtin_popcount(used(pair.rows)), columns = __builtin_popcount(used(pair.columns));
        return scoring.step_fits8 && columns > 0 && rows <= Tables * (Entries / columns);
    }
    LetterTables(const Scoring &scoring, const LanePair &pair) {
        const uint32_t row_letters = used(pair.rows), column_letters = used(pair.columns);
        const int n = __builtin_popcount(column_letters), per_table = Entries / n;
        for (int a = 0, r = 0; a < kLetters; ++a) {
            if (!(row_letters >> a & 1)) continue;
            group_[a] = static_cast<uint8_t>(r / per_table);
            row_[a] = static_cast<uint8_t>(r % per_table * n);
            ++r;
            for (int b = 0, c = 0; b < kLetters; ++b)
                if (column_letters >> b & 1) {
                    column_[b] = static_cast<uint8_t>(c);
                    table_[group_[a]][row_[a] + c++] = scoring.step8[a * kLetters + b];
                }
        }
    }
    uint8_t number_of_row(uint8_t letter) const { return row_[letter]; }
    uint8_t number_of_column(uint8_t letter) const { return column_[letter]; }
    uint8_t group_of_row(uint8_t letter) const { return group_[letter]; }

  protected:
    alignas(64) int8_t table_[Tables][Entries] = {};

  private:
    static uint32_t used(const Letters &letters) {
        uint32_t bits = 0;
        for (int k = 0; k < letters.length; ++k) bits |= uint32_t{1} << letters.codes[k];
        return bits;
    }

    uint8_t row_[kLetters] = {}, column_[kLetters] = {}, group_[kLetters] = {};
};

class FewLetters : public LetterTables<1, 32> {
    static constexpr int B = kVectorBytes;

  public:
    using LetterTables::LetterTables;
    [[gnu::always_inline]] Vec<int8_t, B> score(const uint8_t *rows, const uint8_t *, const uint8_t *columns) const {
        return lookup32<B>(table_[0], load<int8_t, B>(rows) + load<int8_t, B>(columns));
    }
};

#if defined(__AVX512VBMI__)
class ManyLetters : public LetterTables<4, 128> {
    static constexpr int B = kVectorBytes;

  public:
    using LetterTables::LetterTables;
    [[gnu::always_inline]] Vec<int8_t, B> score(const uint8_t *rows, const uint8_t *groups,
                                                const uint8_t *columns) const {
        const __m512i at = (__m512i)(load<int8_t, B>(rows) + load<int8_t, B>(columns));
        const __m512i group = (__m512i)load<int8_t, B>(groups);
        const __mmask64 is_odd = _mm512_test_epi8_mask(group, _mm512_set1_epi8(1));
        const __mmask64 is_late = _mm512_test_epi8_mask(group, _mm512_set1_epi8(2));
        const __m512i early = _mm512_mask_blend_epi8(is_odd, entry(0, at), entry(1, at));
        const __m512i late = _mm512_mask_blend_epi8(is_odd, entry(2, at), entry(3, at));
        return (Vec<int8_t, B>)_mm512_mask_blend_epi8(is_late, early, late);
    }

  private:
    [[gnu::always_inline]] __m512i entry(int table, __m512i at) const {
        const int8_t *entries = table_[table];
        return _mm512_permutex2var_epi8(_mm512_load_si512(entries), at, _mm512_load_si512(entries + 64));
    }
};
#endif

}  // namespace tropalign::TROPALIGN_ISA

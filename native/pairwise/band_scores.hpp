// Scores of a vector of cells whose row letters and column letters lie side by side, as numbers (letter_tables.hpp).
//
//  * FewLetters: one table of 32, on every instruction set. Nucleotides.
//  * ManyLetters: four tables of 128, where one instruction looks bytes up in 128 (VBMI). Proteins.
#pragma once
#include "../simd/bytes.hpp"
#include "letter_tables.hpp"

namespace tropalign::TROPALIGN_ISA {

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

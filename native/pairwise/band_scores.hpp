// Scores of a vector of cells whose row residues and column residues are given as two vectors of numbers
// (letter_tables.hpp).
//
//  * FewLetters: one table of 32, on every instruction set. Nucleotides.
//  * ManyLetters: four tables of 128, if one instruction looks bytes up in 128 (VBMI). Proteins.
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

class ManyLetters : public LetterTables<4, 128> {
    static constexpr int B = kVectorBytes;

  public:
    using LetterTables::LetterTables;
    [[gnu::always_inline]] Vec<int8_t, B> score(const uint8_t *rows, const uint8_t *groups,
                                                const uint8_t *columns) const {
        const auto at = load<int8_t, B>(rows) + load<int8_t, B>(columns), group = load<int8_t, B>(groups);
        const auto early = by_bit<0, B>(group, lookup128<B>(table_[1], at), lookup128<B>(table_[0], at));
        const auto late = by_bit<0, B>(group, lookup128<B>(table_[3], at), lookup128<B>(table_[2], at));
        return by_bit<1, B>(group, late, early);
    }
};

}  // namespace tropalign::TROPALIGN_ISA

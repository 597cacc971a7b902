// Scores of all pairs of residues that two sequences use: residues are numbered, and the sum of two numbers is the
// index of the score in a table. With c column residues a table of n scores holds n / c row residues; the group of
// a row residue is the number of its table:
//
//     table 0                 table 1                 ...       row residue r: group r / (n / c),
//     |r0 x c|r1 x c|...|     |r6 x c|r7 x c|...|               number (r % (n / c)) c, to which the column's is added
#pragma once
#include "scoring.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int Tables, int Entries>
class LetterTables {
  public:
    static bool suits(const Scoring &scoring, const LanePair &pair) {
        const int rows = __builtin_popcount(used(pair.rows)), columns = __builtin_popcount(used(pair.columns));
        return scoring.step_fits8 && !scoring.track && columns > 0 && rows <= Tables * (Entries / columns);
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

}  // namespace tropalign::TROPALIGN_ISA

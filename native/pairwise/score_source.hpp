// Sources of s(i,j) for every lane of a sweep: C columns at a time, a vector per cell.
//
//  * ProfileScores: all lanes share the row sequence. One vector per residue and column (one byte look-up) then serves
//    every row with that residue: one load per cell.
//  * TwoProfiles: the lanes share two row sequences, a profile each: two loads per cell and a selection.
//  * PairScores: every lane has its own rows. Scores of 16 rows of a lane are one byte look-up in the matrix row of
//    the lane's column residue; a transposition of 16 x 16 bytes (interleave.hpp has the picture) turns 16 lanes' rows
//    into rows of lanes: about 11 operations per vector of cells, on every instruction set.
//  * FewLetterScores: the same if the pairs of residues in use fit one look-up of 32 bytes.
//
// A matrix beyond 8 bits is filled in residue by residue.
#pragma once
#include "interleave.hpp"
#include "letter_tables.hpp"
#include "scoring.hpp"
#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int B>
class ProfileScores {
  public:
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;

    /// m rows: `sequence` starts `start` rows after the first one (before it if negative); the other rows are padding.
    /// `memory`: room for bytes(m).
    ProfileScores(const Scoring &scoring, const Letters &sequence, int start, int m, void *memory) : scoring_(scoring) {
        profile_ = static_cast<Vec<T, B> *>(memory);
        offset_ = reinterpret_cast<uint16_t *>(profile_ + kLetters * kColumns);
        int slot[kLetters];
        for (int &s : slot) s = -1;
        for (int i = 0; i < m; ++i) {
            const int a = i >= start && i - start < sequence.length ? sequence.codes[i - start] : kPadCode;
            if (slot[a] < 0) slot[a] = n_letters_, letter_[n_letters_++] = static_cast<uint8_t>(a);
            offset_[i] = static_cast<uint16_t>(slot[a] * kColumns * B);
        }
    }
    static size_t bytes(size_t m) { return sizeof(Vec<T, B>) * kLetters * kColumns + sizeof(uint16_t) * (m + 64); }

    /// Set the next C columns, kTable residues each.
    template <int C>
    void columns(const uint8_t *columns) {
        for (int c = 0; c < C; ++c) {
            const uint8_t *letters = columns + c * kTable;
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
    Vec<T, B> *profile_;
    uint16_t *offset_;
    int n_letters_ = 0;
    uint8_t letter_[kLetters];
};

template <class T, int B>
class TwoProfiles {
  public:
    /// `of_second`: all bits set in the lanes whose rows `second` describes.
    TwoProfiles(const ProfileScores<T, B> &first, const ProfileScores<T, B> &second, Vec<T, B> of_second)
        : first_(first), second_(second), of_second_(of_second) {}

    template <int C>
    void columns(const uint8_t *columns) {
        first_.template columns<C>(columns);
        second_.template columns<C>(columns);
    }
    [[gnu::always_inline]] Vec<T, B> score(int i, int c) const {
        return of_second_ ? second_.score(i, c) : first_.score(i, c);
    }

  private:
    ProfileScores<T, B> first_, second_;
    Vec<T, B> of_second_;
};

template <class T, int B>
class PairScores {
  public:
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;

    /// `rows`: m row residues in whole blocks, as gathered; `memory`: room for bytes(m).
    PairScores(const Scoring &scoring, const int8_t *rows, int m, void *memory)
        : scoring_(scoring), rows_(rows), m_(m), score_(static_cast<int8_t *>(memory)),
          wide_(reinterpret_cast<T *>(memory)) {}
    static size_t bytes(size_t m) { return (m + 16) * kColumns * (B > kTable ? B : kTable); }

    template <int C>
    void columns(const uint8_t *columns) {
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
        alignas(64) int8_t low[16][kTable], high[16][kTable];  // the matrix row of each lane's column residue
        for (int l = 0; l < kTable; ++l) {
            const int8_t *row = scoring_.step8_by_column + letters[l] * kLetters;
            std::memcpy(low[l % 16] + l / 16 * 16, row, 16);
            std::memcpy(high[l % 16] + l / 16 * 16, row + 16, 16);
        }
        const int8_t *rows = rows_;
        for (int i = 0; i < m_; i += 16, rows += 16 * kTable) {
            V v[16];
#pragma GCC unroll 16
            for (int l = 0; l < 16; ++l) {
                V index = load<int8_t, kTable>(rows + l * kTable);
                v[l] = shuffle16<kTable>(load<int8_t, kTable>(low[l]), index + static_cast<int8_t>(0x70)) |
                       shuffle16<kTable>(load<int8_t, kTable>(high[l]), index - static_cast<int8_t>(16));
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
                const int a = rows_[gathered_index<kTable>(l, i)];
                wide_[(static_cast<size_t>(i) * kColumns + c) * L + l] =
                    static_cast<T>(scoring_.step[a * kLetters + letters[l]]);
            }
    }
    const Scoring &scoring_;
    const int8_t *rows_;
    int m_;
    int8_t *score_;
    T *wide_;
};

/// Scores of lanes with their own rows if all pairs of the residues that the two sequences use fit a table of 32: one
/// look-up per cell, and no table of scores per lane.
template <int B>
class FewLetterScores : public LetterTables<1, kLetters> {
  public:
    using LetterTables::LetterTables;
    /// Set the numbers of the row residues, a vector per row.
    void set_rows(const Vec<int8_t, B> *numbers) { rows_ = numbers; }

    template <int C>
    void columns(const uint8_t *columns) {
        for (int c = 0; c < C; ++c) {
            alignas(64) uint8_t number[B];
            for (int l = 0; l < B; ++l) number[l] = number_of_column(columns[c * B + l]);
            columns_[c] = load<int8_t, B>(number);
        }
    }
    [[gnu::always_inline]] Vec<int8_t, B> score(int i, int c) const {
        return lookup32<B>(table_[0], rows_[i] + columns_[c]);
    }

  private:
    const Vec<int8_t, B> *rows_ = nullptr;
    Vec<int8_t, B> columns_[kColumns];
};

}  // namespace tropalign::TROPALIGN_ISA

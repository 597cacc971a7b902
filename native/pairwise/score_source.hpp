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
// With a second track, PairScores adds the scores of both: two look-ups and a saturating sum. If lanes share rows, it
// adds two profiles, of 32 residues each, into the table of all rows: 4 operations per vector of cells.
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

/// Residues of a second track, laid out as those of the first.
struct TrackLetters {
    const int8_t *rows = nullptr;  // as gathered
    ptrdiff_t columns = 0;         // from a column's residues to those of the track
};

/// One or two row sequences that the lanes share.
template <int kTable>
struct SharedRows {
    Vec<int8_t, kTable> *profiles = nullptr;  // room for bytes(); null if rows are not shared
    int second = 0;                           // first lane with the second sequence; 0: there is one
    Vec<int8_t, kTable> of_second{};          // all bits set in the lanes with the second sequence

    static constexpr size_t bytes() { return 2 * kLetters * kColumns * kTable; }
};

template <class T, int B>
class PairScores {
  public:
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int kTable = kTableLanes<T, B>;

    /// `rows`: m row residues in whole blocks, as gathered; `memory`: room for bytes(m). `shared` needs a track.
    PairScores(const Scoring &scoring, const int8_t *rows, int m, void *memory, TrackLetters track = {},
               const SharedRows<kTable> &shared = {})
        : scoring_(scoring), rows_(rows), m_(m), score_(static_cast<int8_t *>(memory)),
          wide_(reinterpret_cast<T *>(memory)), track_(track), shared_(shared) {
        if (shared.profiles) used_[0] = used(rows), used_[1] = used(track.rows);
    }
    static size_t bytes(size_t m) { return (m + 16) * kColumns * (B > kTable ? B : kTable); }

    template <int C>
    void columns(const uint8_t *columns) {
        if (shared_.profiles && scoring_.step_fits8) return fill_shared<C>(columns);
        for (int c = 0; c < C; ++c) {
            if (scoring_.step_fits8 && scoring_.track) fill_tracks(columns + c * kTable, c);
            else if (scoring_.step_fits8) fill_narrow(columns + c * kTable, c);
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
    /// Fill like fill_narrow, with the sums of two tracks.
    void fill_tracks(const uint8_t *letters, int c) {
        using V = Vec<int8_t, kTable>;
        alignas(64) int8_t table[4][16][kTable];  // matrix rows of each lane's column residue: lower and upper halves
        const uint8_t *others = letters + track_.columns;
        for (int l = 0; l < kTable; ++l) {
            const int8_t *own = scoring_.step8_by_column + letters[l] * kLetters;
            const int8_t *other = scoring_.track8_by_column + others[l] * kLetters;
            for (int half = 0; half < 2; ++half) {
                std::memcpy(table[half][l % 16] + l / 16 * 16, own + 16 * half, 16);
                std::memcpy(table[2 + half][l % 16] + l / 16 * 16, other + 16 * half, 16);
            }
        }
        const int8_t *rows = rows_, *other_rows = track_.rows;
        for (int i = 0; i < m_; i += 16, rows += 16 * kTable, other_rows += 16 * kTable) {
            V v[16];
#pragma GCC unroll 16
            for (int l = 0; l < 16; ++l) {
                const auto looked_up = [&](int k, const int8_t *at) __attribute__((always_inline)) {
                    const V index = load<int8_t, kTable>(at + l * kTable);
                    return shuffle16<kTable>(load<int8_t, kTable>(table[k][l]), index + static_cast<int8_t>(0x70)) |
                           shuffle16<kTable>(load<int8_t, kTable>(table[k + 1][l]), index - static_cast<int8_t>(16));
                };
                v[l] = adds<int8_t, kTable>(looked_up(0, rows), looked_up(2, other_rows));
            }
            transpose16<kTable>(v);
#pragma GCC unroll 16
            for (int r = 0; r < 16; ++r)
                store<int8_t, kTable>(score_ + (static_cast<size_t>(i + r) * kColumns + c) * kTable, v[r]);
        }
    }
    /// Fill C columns from the profiles of both tracks, which have only the residues that the rows use.
    template <int C>
    void fill_shared(const uint8_t *letters) {
        for (const int track : {0, 1}) {
            const int8_t *step = track ? scoring_.track8 : scoring_.step8;
            Vec<int8_t, kTable> *profile = shared_.profiles + track * kLetters * kColumns;
            for (int c = 0; c < C; ++c) {
                const auto index = load<int8_t, kTable>(letters + track * track_.columns + c * kTable);
                for (uint32_t left = used_[track]; left; left &= left - 1) {
                    const int a = __builtin_ctz(left);
                    profile[a * kColumns + c] = lookup32<kTable>(step + a * kLetters, index);
                }
            }
        }
        if (shared_.second) fill_rows<C, true>();
        else fill_rows<C, false>();
    }
    template <int C, bool Two>
    void fill_rows() {
        using V = Vec<int8_t, kTable>;
        const V *own = shared_.profiles, *other = own + kLetters * kColumns;
        const V of_second = shared_.of_second;
        const size_t second = gathered_index<kTable>(shared_.second, 0);
        for (int i = 0; i < m_; i += 16) {
            const int8_t *row = rows_ + static_cast<size_t>(i) * kTable;
            const int8_t *track = track_.rows + static_cast<size_t>(i) * kTable;
            int8_t *to = score_ + static_cast<size_t>(i) * kColumns * kTable;
            for (int r = 0; r < 16; ++r, to += kColumns * kTable) {
                const V *a = own + row[r] * kColumns, *x = other + track[r] * kColumns;
                const V *b = own + row[second + r] * kColumns, *y = other + track[second + r] * kColumns;
                V scores[C];
                for (int c = 0; c < C; ++c) {
                    scores[c] = adds<int8_t, kTable>(a[c], x[c]);
                    if constexpr (Two) scores[c] = of_second ? adds<int8_t, kTable>(b[c], y[c]) : scores[c];
                }
                for (int c = 0; c < C; ++c) store<int8_t, kTable>(to + c * kTable, scores[c]);
            }
        }
    }
    /// Return a bit for each residue that the shared rows use.
    uint32_t used(const int8_t *rows) const {
        uint32_t bits = 0;
        for (const int lane : {0, shared_.second})
            for (int i = 0; i < whole_blocks(m_); ++i) bits |= uint32_t{1} << rows[gathered_index<kTable>(lane, i)];
        return bits;
    }
    void fill_wide(const uint8_t *letters, int c) {
        for (int i = 0; i < m_; ++i)
            for (int l = 0; l < L; ++l) {
                const size_t at = gathered_index<kTable>(l, i);
                int32_t term = scoring_.step[rows_[at] * kLetters + letters[l]];
                if (scoring_.track) {
                    term += scoring_.track_scores[track_.rows[at] * kLetters + letters[track_.columns + l]];
                    term = std::max(term, scoring_.never);
                }
                wide_[(static_cast<size_t>(i) * kColumns + c) * L + l] = static_cast<T>(term);
            }
    }
    const Scoring &scoring_;
    const int8_t *rows_;
    int m_;
    int8_t *score_;
    T *wide_;
    TrackLetters track_;
    SharedRows<kTable> shared_;
    uint32_t used_[2] = {};  // bits of the residues of shared rows, of each track
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

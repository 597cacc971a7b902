// Pairs whose residues score by a table (table_scores.hpp), a long pair each (long_pair.hpp):
//     H(i,j) = max(H(i-1,j-1) + S(i,j), E(i,j), F(i,j) [, 0])       (Gotoh 1982; sweep.hpp)
#include <cmath>
#include <limits>

#include "long_pair.hpp"
#include "table_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <class Call>
auto with_values(const TableView &table, Call call) {
    switch (table.type) {
        case TableType::int8:
            return call(static_cast<const int8_t *>(table.values));
        case TableType::int16:
            return call(static_cast<const int16_t *>(table.values));
        case TableType::int32:
            return call(static_cast<const int32_t *>(table.values));
        case TableType::float32:
            return call(static_cast<const float *>(table.values));
    }
    __builtin_unreachable();
}

/// Return a number with this bit pattern, the highest in absolute value of a table; infinity if it is not finite.
double number_of(int32_t bits) {
    constexpr int32_t infinite = 0x7f800000;  // and above it not-a-number
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return bits < infinite ? double{value} : HUGE_VAL;
}

/// Return the highest number of every 32nd row, or 0 if none is above: a guess for the whole table. 0 for whole
/// numbers, whose terms do not depend on it.
double guessed_highest(const TableView &table) {
    if (table.type != TableType::float32) return 0;
    const auto *values = static_cast<const float *>(table.values);
    int32_t most = 0;  // of the bits; numbers above 0 have the order of their bits
    for (int32_t row = 0; row < table.n_rows; row += 32)
        for (int32_t k = 0; k < table.n_columns; ++k) {
            int32_t bits;
            std::memcpy(&bits, values + static_cast<size_t>(row) * table.n_columns + k, sizeof bits);
            most = std::max(most, bits);
        }
    return number_of(most);
}

/// The score to which lower ones are raised in local mode: they end every alignment all the same, since no score within
/// the range of T is above its absolute value.
template <class T>
inline constexpr int32_t kLowest = sizeof(T) == 2 ? -INT16_MAX : -(1 << 30);

/// Return the scoring of a pair in lanes of type T.
template <class T, Mode M>
Scoring scoring_of(const TablePair &pair) {
    static_assert(M == Mode::local || M == Mode::global);
    constexpr bool kLocal = M == Mode::local;
    std::vector<int32_t> scores(kLetters * kLetters, 0);
    scores[0] = pair.highest;
    if (kLocal) scores[1] = kLowest<T>;
    return Scoring(M, pair.depth, scores.data(), pair.open, pair.extend);
}

/// A table in the terms that a sweep adds (Scoring::step), with the pair's rows in rows.
template <class T, Mode M>
class OwnTable {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr int L = Lanes<T, kVectorBytes>::count;

  public:
    explicit OwnTable(const TablePair &pair)
        : margin_(L * (pair.lanes.columns.length + kColumns)), pair_type_(pair.table.type), terms_(terms_of(pair)),
          factor_(static_cast<float>(1 / pair.unit)) {
        const int m = pair.lanes.rows.length, n = pair.lanes.columns.length;
        values_ = Buffer<T>(static_cast<size_t>(m) * n + 2 * margin_ + L);
        std::fill_n(values_.data(), margin_, T{0});
        std::fill_n(values_.data() + values_.size() - margin_ - L, margin_ + L, T{0});
        table = {values_.data() + margin_, n};
        T *to = values_.data() + margin_;
        with_values(pair.table, [&](const auto *values) {
            if (pair.query_in_rows) return set_terms(values, static_cast<int64_t>(m) * n, to);
            constexpr int side = 32;  // the given table has the pair's columns in rows: turned block by block
            alignas(64) T block[side][side];
            for (int i = 0; i < m; i += side)
                for (int j = 0; j < n; j += side) {
                    const int rows = std::min(side, m - i), columns = std::min(side, n - j);
                    for (int c = 0; c < columns; ++c)
                        set_terms(values + static_cast<size_t>(j + c) * m + i, rows, block[c]);
                    for (int r = 0; r < rows; ++r)
                        for (int c = 0; c < columns; ++c) to[static_cast<size_t>(i + r) * n + j + c] = block[c][r];
                }
        });
    }

    /// Return the highest number of the given table, or 0 if none is above; infinity if a number is not finite.
    double highest() const {
        T most = 0, largest = 0;
        for (int l = 0; l < L; ++l) most = std::max(most, most_[l]), largest = std::max(largest, largest_[l]);
        if (pair_type_ != TableType::float32) return static_cast<double>(most);
        return std::isfinite(number_of(largest)) ? number_of(most) : HUGE_VAL;
    }

    /// True if the terms of this pair are the same.
    bool suits(const TablePair &pair) const {
        const Terms terms = terms_of(pair);
        return terms.added == terms_.added && terms.least == terms_.least &&
               static_cast<float>(1 / pair.unit) == factor_;
    }

    /// Return the number of scores above 0 in an alignment. Later local alignments cannot reuse its pairs of residues.
    int take(const LaneResult &result) {
        T *term = values_.data() + margin_ + static_cast<size_t>(result.row_begin) * table.row + result.column_begin;
        int similar = 0;
        for (int k = 0; k < result.path_length; ++k) {
            const int operation = result.path[k] & 15;
            const ptrdiff_t length = result.path[k] >> 4, rows = operation != kOnlyColumn,
                            columns = operation != kOnlyRow;
            for (int c = 0; c < length && rows && columns; ++c) {
                T &of_pair = term[c * (table.row + 1)];
                similar += of_pair > terms_.added;
                if (kLocal) of_pair = static_cast<T>(kLowest<T>);
            }
            term += length * (rows * table.row + columns);
        }
        return similar;
    }

    ScoreTable table;

  private:
    using V = Vec<T, kVectorBytes>;
    /// Tables are prefetched: they usually come from memory, and the loop waited for them two thirds of its time.
    static constexpr ptrdiff_t kAheadBytes = 4096;

    /// A number that is added to each score, and the least term.
    struct Terms {
        T added, least;
    };
    static Terms terms_of(const TablePair &pair) {
        if (kLocal) return {0, static_cast<T>(kLowest<T>)};
        return {static_cast<T>(2 * pair.extend), static_cast<T>(-2 * pair.open - 1)};
    }

    template <class From>
    static V loaded(const From *from, float factor) {
        if constexpr (sizeof(From) > sizeof(T)) {
            return V{};  // such a table has wider terms
        } else if constexpr (std::is_floating_point_v<From>) {
            const auto scaled = load<From, kVectorBytes>(from) * factor;
            return __builtin_convertvector(scaled + (scaled < 0 ? -.5f : .5f), V);
        } else if constexpr (sizeof(From) == 1) {
            return widen<T, kVectorBytes>(from);
        } else {
            return __builtin_convertvector((load<From, L * sizeof(From)>(from)), V);
        }
    }

    /// Set the terms of `count` scores, and note the highest: of float32 by their bits, since numbers above 0 have the
    /// order of their bits.
    template <class From>
    void set_terms(const From *from, int64_t count, T *to) {
        const V added = splat<T, kVectorBytes>(terms_.added), least = splat<T, kVectorBytes>(terms_.least);
        const float factor = factor_;
        V most = most_, largest = largest_;
        auto term = [&](const From *scores) __attribute__((always_inline)) {
            const V score = loaded(scores, factor);
            if constexpr (std::is_floating_point_v<From> && sizeof(From) == sizeof(T)) {
                V bits;
                std::memcpy(&bits, scores, sizeof bits);
                most = vmax(most, bits), largest = vmax(largest, bits & splat<T, kVectorBytes>(INT32_MAX));
            } else {
                most = vmax(most, score);
            }
            return vmax(score + added, least);
        };
        int64_t k = 0;
        for (; k + L <= count; k += L) {
            __builtin_prefetch(reinterpret_cast<const char *>(from + k) + kAheadBytes);
            store<T, kVectorBytes>(to + k, term(from + k));
        }
        if (k < count) {
            From rest[L] = {};
            T terms[L];
            for (int r = 0; k + r < count; ++r) rest[r] = from[k + r];
            store<T, kVectorBytes>(terms, term(rest));
            for (int r = 0; k + r < count; ++r) to[k + r] = terms[r];
        }
        most_ = most, largest_ = largest;
    }

    size_t margin_;
    TableType pair_type_;
    Terms terms_;
    float factor_;
    V most_{}, largest_{};  // of the given numbers, and of absolute values of float32
    Buffer<T> values_;
};

/// Align a pair, of which `guess` is made by a guess of the highest number of its table. Returns no alignment if the
/// score may exceed lanes of type T.
template <class T, Mode M>
bool align(const TableRequest &request, int64_t k, const TablePair &guess, int n_threads, const Poll &poll,
           TableAlignments &found) {
    OwnTable<T, M> own(guess);
    const TablePair pair = table_pair(request, k, own.highest());
    const Scoring scoring = scoring_of<T, M>(pair);
    if (sizeof(T) < 4 && !fits(scoring, 8 * sizeof(T))) return true;
    if (!own.suits(pair)) own = OwnTable<T, M>(pair);
    found.unit = pair.unit;
    std::vector<TableAlignment> &rows = found.rows;
    do {
        LongPair<T, kVectorBytes, M, TableScores<T, kVectorBytes>> whole(scoring, pair.lanes, n_threads,
                                                                         request.pairs.memory_bytes, &own.table);
        TableAlignment one;
        if (!whole.run(poll, one.result, one.path)) return false;
        if (sizeof(T) < 4 && one.result.score > most_score(scoring, 8 * sizeof(T))) return true;
        if (!rows.empty() && one.result.score == 0) break;
        one.result.similar = own.take(one.result);
        rows.push_back(std::move(one));
    } while (static_cast<int>(rows.size()) < pair.most && rows.back().result.score > 0);
    return true;
}

bool run(const TableRequest &request, int64_t k, int n_threads, const Poll &poll, TableAlignments &found) {
    const TableView &table = request.tables[k];
    const TablePair pair = table_pair(request, k, guessed_highest(table));
    auto in = [&]<Mode M>() {
        if (table.type == TableType::int8 || table.type == TableType::int16) {
            if (!align<int16_t, M>(request, k, pair, n_threads, poll, found)) return false;
            if (!found.rows.empty()) return true;
        }
        return align<int32_t, M>(request, k, pair, n_threads, poll, found);
    };
    switch (request.mode) {
        case Mode::local:
            return in.template operator()<Mode::local>();
        case Mode::global:
            return in.template operator()<Mode::global>();
    }
    __builtin_unreachable();
}

}  // namespace

extern const TableKernels table_kernels = {run};

}  // namespace tropalign::TROPALIGN_ISA

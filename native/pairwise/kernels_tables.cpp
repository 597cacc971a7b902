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

double highest(const TableView &table) {
    const size_t count = static_cast<size_t>(table.n_rows) * table.n_columns;
    return with_values(table, [&](const auto *values) {
        using From = std::remove_cvref_t<decltype(*values)>;
        if constexpr (std::is_floating_point_v<From>) {
            int32_t most = 0, largest = 0;  // of the bits; numbers above 0 have the order of their bits
            for (size_t k = 0; k < count; ++k) {
                int32_t bits;
                std::memcpy(&bits, values + k, sizeof bits);
                most = std::max(most, bits), largest = std::max(largest, bits & INT32_MAX);
            }
            constexpr int32_t infinite = 0x7f800000;  // and above it not-a-number
            float value;
            std::memcpy(&value, &most, sizeof value);
            return largest < infinite ? double{value} : HUGE_VAL;
        } else {
            From most = 0;
            for (size_t k = 0; k < count; ++k) most = std::max(most, values[k]);
            return static_cast<double>(most);
        }
    });
}

/// Return the scoring of a pair in lanes of type T. In local mode, scores below `lowest` are raised to it: they end
/// every alignment all the same, since no score within the range is above its absolute value.
template <class T, Mode M>
Scoring scoring_of(const TablePair &pair) {
    static_assert(M == Mode::local || M == Mode::global);
    constexpr bool kLocal = M == Mode::local;
    std::vector<int32_t> scores(kLetters * kLetters, 0);
    scores[0] = pair.highest;
    if (kLocal) scores[1] = sizeof(T) == 2 ? -INT16_MAX : -(1 << 30);
    return Scoring(M, pair.depth, scores.data(), pair.open, pair.extend);
}

/// A table in the terms that a sweep adds (Scoring::step), with the pair's rows in rows.
template <class T, Mode M>
class OwnTable {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr int L = Lanes<T, kVectorBytes>::count;

  public:
    OwnTable(const TablePair &pair, const Scoring &scoring)
        : margin_(L * (pair.lanes.columns.length + kColumns)), lowest_(static_cast<T>(scoring.lowest)),
          added_(static_cast<T>(kLocal ? 0 : 2 * scoring.extend)),
          least_(static_cast<T>(kLocal ? scoring.lowest : -2 * scoring.open - 1)),
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
                similar += of_pair > added_;
                if (kLocal) of_pair = lowest_;
            }
            term += length * (rows * table.row + columns);
        }
        return similar;
    }

    ScoreTable table;

  private:
    using V = Vec<T, kVectorBytes>;

    template <class From>
    V loaded(const From *from) const {
        if constexpr (sizeof(From) > sizeof(T)) {
            return V{};  // such a table has wider terms
        } else if constexpr (std::is_floating_point_v<From>) {
            const auto scaled = load<From, kVectorBytes>(from) * factor_;
            return __builtin_convertvector(scaled + (scaled < 0 ? -.5f : .5f), V);
        } else if constexpr (sizeof(From) == 1) {
            return widen<T, kVectorBytes>(from);
        } else {
            return __builtin_convertvector((load<From, L * sizeof(From)>(from)), V);
        }
    }

    /// Set the terms of `count` scores.
    template <class From>
    void set_terms(const From *from, int64_t count, T *to) const {
        auto term = [&](const From *scores) { return vmax(loaded(scores) + added_, splat<T, kVectorBytes>(least_)); };
        int64_t k = 0;
        for (; k + L <= count; k += L) store<T, kVectorBytes>(to + k, term(from + k));
        if (k == count) return;
        From rest[L] = {};
        T terms[L];
        for (int r = 0; k + r < count; ++r) rest[r] = from[k + r];
        store<T, kVectorBytes>(terms, term(rest));
        for (int r = 0; k + r < count; ++r) to[k + r] = terms[r];
    }

    const size_t margin_;
    const T lowest_, added_, least_;  // `least_`: of the terms
    const float factor_;
    Buffer<T> values_;
};

template <class T, Mode M>
bool align(const TablePair &pair, int n_threads, int64_t memory_bytes, const Poll &poll,
           std::vector<TableAlignment> &found) {
    const Scoring scoring = scoring_of<T, M>(pair);
    OwnTable<T, M> own(pair, scoring);
    do {
        LongPair<T, kVectorBytes, M, TableScores<T, kVectorBytes>> whole(scoring, pair.lanes, n_threads, memory_bytes,
                                                                         &own.table);
        TableAlignment one;
        if (!whole.run(poll, one.result, one.path)) return false;
        if (!found.empty() && one.result.score == 0) break;
        one.result.similar = own.take(one.result);
        found.push_back(std::move(one));
    } while (static_cast<int>(found.size()) < pair.most && found.back().result.score > 0);
    return true;
}

bool run(const TablePair &pair, int n_threads, int64_t memory_bytes, const Poll &poll,
         std::vector<TableAlignment> &found) {
    auto in = [&]<Mode M>() {
        const bool is_narrow = pair.table.type == TableType::int8 || pair.table.type == TableType::int16;
        if (const Scoring narrow = scoring_of<int16_t, M>(pair); is_narrow && fits(narrow, 16)) {
            if (!align<int16_t, M>(pair, n_threads, memory_bytes, poll, found)) return false;
            if (found[0].result.score <= most_score(narrow, 16)) return true;
            found.clear();
        }
        return align<int32_t, M>(pair, n_threads, memory_bytes, poll, found);
    };
    switch (pair.mode) {
        case Mode::local:
            return in.template operator()<Mode::local>();
        case Mode::global:
            return in.template operator()<Mode::global>();
    }
    __builtin_unreachable();
}

}  // namespace

extern const TableKernels table_kernels = {highest, run};

}  // namespace tropalign::TROPALIGN_ISA

#include "store.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tropalign {
namespace {

/// The writable arrays of one direction.
struct WritableRows {
    int32_t n_rows, n_columns;
    uint32_t *starts;
    uint16_t *columns, *values;
};

/// Transpose a matrix; columns ascend, since its rows are read in order.
void transpose(const WritableRows &from, const WritableRows &to) {
    const uint32_t n_elements = from.starts[from.n_rows];
    std::fill_n(to.starts, to.n_rows + 1, 0);
    for (uint32_t e = 0; e < n_elements; ++e) ++to.starts[from.columns[e] + 1];
    // Starts are shifted by a row: row j starts at starts[j + 1], which has moved to its end once the row is filled.
    uint32_t begin = 0;
    for (int32_t j = 0; j < to.n_rows; ++j) {
        const uint32_t size = to.starts[j + 1];
        to.starts[j + 1] = begin;
        begin += size;
    }
    for (int32_t i = 0; i < from.n_rows; ++i)
        for (uint32_t e = from.starts[i]; e < from.starts[i + 1]; ++e) {
            const uint32_t at = to.starts[from.columns[e] + 1]++;
            to.columns[at] = static_cast<uint16_t>(i);
            to.values[at] = from.values[e];
        }
}

[[noreturn]] void refuse_pair(int64_t k, const char *what) {
    throw std::invalid_argument("pairs: pair " + std::to_string(k) + " " + what);
}

WritableRows writable(const SparseRows &rows) {
    return {rows.n_rows, rows.n_columns, const_cast<uint32_t *>(rows.starts), const_cast<uint16_t *>(rows.columns),
            const_cast<uint16_t *>(rows.values)};
}

}  // namespace

PosteriorStore::PosteriorStore(std::vector<int32_t> lengths)
    : lengths_(std::move(lengths)), index_(static_cast<int64_t>(lengths_.size())) {
    for (int32_t length : lengths_)
        if (length < 0 || length > kLongestResidues)
            throw std::invalid_argument("lengths: a sequence of " + std::to_string(length) +
                                        " residues, but 0 to 65535 are supported");
}

SparseRows PosteriorStore::rows_of(const Block &block, bool forward) const {
    const int32_t m = lengths_[block.x], n = lengths_[block.y];
    const uint32_t *starts = block.memory.get();
    const auto *columns = reinterpret_cast<const uint16_t *>(starts + m + n + 2);
    const uint16_t *values = columns + 2 * static_cast<size_t>(block.n_elements);
    if (forward) return {m, n, starts, columns, values};
    return {n, m, starts + m + 1, columns + block.n_elements, values + block.n_elements};
}

int64_t PosteriorStore::block_words(const Block &block) const {
    return int64_t{lengths_[block.x]} + lengths_[block.y] + 2 + 2 * int64_t{block.n_elements};
}

int64_t PosteriorStore::n_bytes() const {
    constexpr int64_t kHeapBytes = 16;  // of an allocation
    int64_t words = 0;
    for (const Block &block : blocks_) words += block_words(block);
    return 4 * words + n_pairs() * kHeapBytes + index_.n_bytes() +
           static_cast<int64_t>(blocks_.capacity() * sizeof(Block));
}

void PosteriorStore::check(const PairRows &given) const {
    int64_t row = 0, element = 0;
    for (int64_t k = 0; k < given.n_pairs; ++k) {
        const int32_t x = given.pairs[2 * k], y = given.pairs[2 * k + 1];
        if (x < 0 || y < 0 || x >= n_sequences() || y >= n_sequences())
            refuse_pair(k, "has an index that is out of range");
        if (x == y) refuse_pair(k, "has the same sequence twice");
        if (has(x, y)) refuse_pair(k, "is already present");
        if (given.n_rows - row < lengths_[x]) refuse_pair(k, "has more rows than row_sizes");
        const int64_t rows_end = row + lengths_[x];
        for (; row < rows_end; ++row) {
            const int64_t end = element + given.row_sizes[row];
            if (end > given.n_elements) refuse_pair(k, "has more elements than columns");
            int32_t before = -1;
            bool good = true;
            for (; element < end; ++element) {
                good &= given.columns[element] > before && given.values[element] <= kPosteriorOne;
                before = given.columns[element];
            }
            if (!good || before >= lengths_[y])
                refuse_pair(k, "has columns that do not ascend within its second sequence, or values above 32767");
        }
    }
    if (row != given.n_rows || element != given.n_elements)
        throw std::invalid_argument("row_sizes, columns: more than the pairs have");
    std::vector<uint64_t> keys(given.n_pairs);
    for (int64_t k = 0; k < given.n_pairs; ++k) keys[k] = key(given.pairs[2 * k], given.pairs[2 * k + 1]);
    std::sort(keys.begin(), keys.end());
    if (std::adjacent_find(keys.begin(), keys.end()) != keys.end())
        throw std::invalid_argument("pairs: a pair occurs twice");
}

void PosteriorStore::fill(Block &block, const uint16_t *row_sizes, const uint16_t *columns, const uint16_t *values,
                          bool forward) {
    block.memory = std::make_unique_for_overwrite<uint32_t[]>(block_words(block));
    const WritableRows given = writable(rows_of(block, forward)), turned = writable(rows_of(block, !forward));
    given.starts[0] = 0;
    for (int32_t i = 0; i < given.n_rows; ++i) given.starts[i + 1] = given.starts[i] + row_sizes[i];
    std::copy_n(columns, block.n_elements, given.columns);
    std::copy_n(values, block.n_elements, given.values);
    transpose(given, turned);
}

void PosteriorStore::add(const PairRows &given) {
    check(given);
    std::vector<Block> made(given.n_pairs);
    int64_t row = 0, element = 0;
    for (int64_t k = 0; k < given.n_pairs; ++k) {
        const int32_t x = given.pairs[2 * k], y = given.pairs[2 * k + 1];
        const int64_t rows_end = row + lengths_[x];
        uint32_t size = 0;
        for (int64_t r = row; r < rows_end; ++r) size += given.row_sizes[r];
        made[k] = {std::min(x, y), std::max(x, y), size, nullptr};
        fill(made[k], given.row_sizes + row, given.columns + element, given.values + element, x < y);
        row = rows_end;
        element += size;
    }
    // No exceptions from here on: the room is reserved.
    if (blocks_.size() + made.size() > blocks_.capacity())
        blocks_.reserve(std::max(blocks_.size() + made.size(), blocks_.capacity() * 3 / 2));
    index_.reserve(blocks_.size() + made.size());
    for (Block &block : made) {
        index_.set(block.x, block.y, static_cast<uint32_t>(blocks_.size()));
        blocks_.push_back(std::move(block));
    }
    n_elements_ += given.n_elements;
}

void PosteriorStore::replace(int64_t index, const uint16_t *values, uint16_t least) {
    Block &block = blocks_[index];
    const SparseRows old = forward(index);
    const uint32_t n_old = block.n_elements;
    const auto n_kept = static_cast<uint32_t>(
        std::count_if(values, values + n_old, [&](uint16_t value) { return value >= least && value > 0; }));
    if (n_kept == n_old) {
        const WritableRows rows = writable(old);
        std::copy_n(values, n_old, rows.values);
        transpose(rows, writable(rows_of(block, false)));
        return;
    }
    Block made{block.x, block.y, n_kept, nullptr};
    made.memory = std::make_unique_for_overwrite<uint32_t[]>(block_words(made));
    const WritableRows rows = writable(rows_of(made, true));
    uint32_t at = 0;
    for (int32_t i = 0; i < old.n_rows; ++i) {
        rows.starts[i] = at;
        for (uint32_t e = old.starts[i]; e < old.starts[i + 1] && at < n_kept; ++e) {
            rows.columns[at] = old.columns[e];
            rows.values[at] = values[e];
            at += values[e] >= least && values[e] > 0;
        }
    }
    rows.starts[old.n_rows] = at;
    transpose(rows, writable(rows_of(made, false)));
    block = std::move(made);
}

void PosteriorStore::count_elements() {
    n_elements_ = 0;
    for (const Block &block : blocks_) n_elements_ += block.n_elements;
}

}  // namespace tropalign

#include "likely_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "bounds.hpp"

namespace tropalign {
namespace {

/// Maximum number of different k-mers: k = 9 for four states, k = 4 for twenty.
constexpr int64_t kMostWords = 1 << 18;
/// Maximum number of positions of a k-mer in a bound; a more frequent k-mer is left out.
constexpr int kMostRepeats = 4;
/// Residues on each side of a read's position that its insertions and deletions may need.
constexpr int64_t spare_of(int64_t n_letters) { return 8 + n_letters / 16; }

/// Return the state of a set that has exactly one; else -1.
int only_state(uint32_t set) { return std::has_single_bit(set) ? std::countr_zero(set) : -1; }

/// Return the states of a vector in a column, with its gap flag above the last state.
uint32_t offer_of(const ReferencePlanes &planes, int64_t vector, int64_t column) {
    const uint64_t *word = planes.column(vector / kPlaceLanes, column);
    uint32_t bits = 0;
    for (int plane = 0; plane <= planes.n_states; ++plane)
        bits |= static_cast<uint32_t>(word[plane] >> vector % kPlaceLanes & 1) << plane;
    return bits;
}

}  // namespace

template <class Letter, class See>
void LikelyBounds::each_word(int64_t n, Letter letter, See see) const {
    const auto n_words = static_cast<int64_t>(begin_.size()) - 1;
    int64_t word = 0, n_before = 0;  // n_before: length of the current run of single-state residues
    for (int64_t k = 0; k < n; ++k) {
        const int state = letter(k);
        n_before = state < 0 ? 0 : n_before + 1;
        word = (word * n_states_ + std::max(state, 0)) % n_words;
        if (n_before >= length_) see(word, k);
    }
}

LikelyBounds::LikelyBounds(const ReferencePlanes &planes) : n_states_(planes.n_states) {
    int64_t n_words = 1;
    for (; n_words * n_states_ <= kMostWords && length_ < 16; n_words *= n_states_) ++length_;
    begin_.assign(n_words + 1, 0);
    std::vector<int8_t> state;  // state of each residue
    residues_before_.push_back(0);
    for (int64_t vector = 0; vector < planes.n_vectors; vector += kBranchesPerBound) {
        for (int64_t a = planes.n_empty; a < planes.n_columns; ++a) {
            const uint32_t offer = offer_of(planes, vector, a);
            if (offer >> n_states_) continue;
            column_.push_back(static_cast<int32_t>(a)), state.push_back(static_cast<int8_t>(only_state(offer)));
        }
        residues_before_.push_back(static_cast<int64_t>(column_.size()));
    }
    const auto n_bounds = static_cast<int64_t>(residues_before_.size()) - 1;
    auto each = [&](auto see) {
        for (int64_t bound = 0; bound < n_bounds; ++bound) {
            const int64_t first = residues_before_[bound];
            each_word(
                residues_before_[bound + 1] - first, [&](int64_t k) { return state[first + k]; },
                [&](int64_t word, int64_t k) { see(word, bound, k); });
        }
    };
    std::vector<int64_t> last_bound(n_words, -1);
    std::vector<uint8_t> times(n_words), is_repeated(n_words);  // times: within the current bound
    each([&](int64_t word, int64_t bound, int64_t) {
        times[word] = last_bound[word] == bound ? std::min<uint8_t>(times[word] + 1, kMostRepeats + 1) : 1;
        last_bound[word] = bound;
        is_repeated[word] |= times[word] > kMostRepeats;
        ++begin_[word + 1];
    });
    for (int64_t word = 0; word < n_words; ++word)
        if (is_repeated[word]) begin_[word + 1] = 0;
    for (int64_t word = 0; word < n_words; ++word) begin_[word + 1] += begin_[word];
    endings_.resize(static_cast<std::size_t>(begin_.back()));
    std::vector<int64_t> at(begin_.begin(), begin_.end() - 1);
    each([&](int64_t word, int64_t bound, int64_t k) {
        if (!is_repeated[word]) endings_[at[word]++] = {static_cast<int32_t>(bound), static_cast<int32_t>(k)};
    });
}

int32_t LikelyBounds::find(const ReadLetters &read, std::size_t most, std::vector<LikelyPlace> &places) const {
    places.clear();
    std::vector<int32_t> n_shared(residues_before_.size() - 1);
    auto each = [&](auto see) {
        each_word(
            read.length, [&](int64_t b) { return only_state(read.sets[read.letter[b]]); },
            [&](int64_t word, int64_t b) {
                for (int64_t k = begin_[word]; k < begin_[word + 1]; ++k) see(endings_[k], b);
            });
    };
    each([&](Ending ending, int64_t) { ++n_shared[ending.bound]; });
    std::vector<int32_t> order;
    for (std::size_t bound = 0; bound < n_shared.size(); ++bound)
        if (n_shared[bound]) order.push_back(static_cast<int32_t>(bound));
    const std::size_t n = std::min(most, order.size());
    if (!n) return 0;
    std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int32_t a, int32_t b) {
        return n_shared[a] != n_shared[b] ? n_shared[a] > n_shared[b] : a < b;
    });
    std::vector<int32_t> rank(n_shared.size(), -1);
    for (std::size_t k = 0; k < n; ++k) rank[order[k]] = static_cast<int32_t>(k);
    std::vector<std::vector<int64_t>> first_residues(n);  // start of the read according to each shared k-mer
    each([&](Ending ending, int64_t b) {
        if (rank[ending.bound] >= 0) first_residues[rank[ending.bound]].push_back(ending.residue - b);
    });
    for (std::size_t k = 0; k < n; ++k) {
        std::vector<int64_t> &first = first_residues[k];
        std::nth_element(first.begin(), first.begin() + first.size() / 2, first.end());
        const int64_t middle = first[first.size() / 2], spare = spare_of(read.length);
        const int64_t before = residues_before_[order[k]], n_residues = residues_before_[order[k] + 1] - before;
        const int64_t begin = std::clamp<int64_t>(middle - spare, 0, n_residues - 1);
        const int64_t end = std::clamp<int64_t>(middle + read.length + spare, begin + 1, n_residues);
        places.push_back({order[k], column_[before + begin], column_[before + end - 1] + 1});
    }
    return n_shared[order[0]];
}

}  // namespace tropalign

#include "words.hpp"

#include <algorithm>
#include <vector>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(WordKernels, word_kernels)

namespace {

/// The k-mers of a sequence, with positions counted from 1.
struct Words {
    std::vector<int32_t> at;      // [length + 1] the k-mer that starts there, or -1
    std::vector<int32_t> last;    // [number of k-mers] its last position, or 0
    std::vector<int32_t> before;  // [length + 1] the previous position of the same k-mer, or 0

    void find(Residues sequence, const WordRules &rules, int32_t n_words) {
        at.assign(sequence.length + 1, -1);
        before.assign(sequence.length + 1, 0);
        last.assign(n_words, 0);
        for (int32_t i = 1; i + rules.length - 1 <= sequence.length; ++i) {
            int32_t word = 0;
            for (int32_t k = rules.length - 1; k >= 0 && word >= 0; --k) {
                const int32_t code = sequence[i + k];
                word = code < rules.n_letters ? word * rules.n_letters + code : -1;
            }
            at[i] = word;
            if (word < 0) continue;
            before[i] = last[word];
            last[word] = i;
        }
    }
};

/// Sort the diagonals by their number of k-mers, highest last, with the quicksort of CLUSTALW 2.1 (Kernighan and
/// Plauger, Software Tools, 1976, pivot last), so that ties fall as they do there. CLUSTALW does not sort the last
/// diagonal, which therefore stays the highest. Parts that end before index `wanted` are left unsorted.
void put_best_last(std::vector<int32_t> &counts, std::vector<int32_t> &order, int32_t begin, int32_t end,
                   int32_t wanted) {
    while (begin < end && end >= wanted) {
        const int32_t pivot = counts[end];
        int32_t low = begin, high = end;
        while (true) {
            while (counts[low] < pivot) ++low;
            while (--high > low && counts[high] > pivot) {
            }
            if (low >= high) break;
            std::swap(counts[low], counts[high]);
            std::swap(order[low], order[high]);
            ++low;
        }
        std::swap(counts[low], counts[end]);
        std::swap(order[low], order[end]);
        put_best_last(counts, order, begin, low - 1, wanted);
        begin = low + 1;
    }
}

/// Chains the k-mers of pairs, one pair after another.
class WordChains {
  public:
    WordChains(const WordRules &rules, int32_t n_words, int32_t most_pieces)
        : rules_(rules), n_words_(n_words), most_pieces_(most_pieces) {}

    void set_first(Residues a) { a_ = a, words_a_.find(a, rules_, n_words_); }

    int32_t score(Residues b) {
        b_ = b;
        words_b_.find(b, rules_, n_words_);
        n_diagonals_ = a_.length + b_.length - 1;
        take_diagonals();
        pieces_.assign(1, {0, 0, 0, 0});
        latest_.assign(n_diagonals_ + 1, 0);
        best_ = 0;
        for (int32_t i = 1; i <= a_.length; ++i) {
            if (words_a_.at[i] < 0) continue;
            for (int32_t j = words_b_.last[words_a_.at[i]]; j; j = words_b_.before[j])
                if (is_taken_[i - j + b_.length] && !add(i, j)) return pieces_[best_].score;
        }
        return pieces_[best_].score;
    }

  private:
    /// A k-mer that both sequences have, with the best chain that ends with it.
    struct Piece {
        int32_t score, i, j;
        int32_t next;  // index of the piece with the next lower score
    };

    /// Choose the diagonals; diagonal i - j + length of b is counted from 1.
    void take_diagonals() {
        counts_.assign(n_diagonals_ + 1, 0);
        for (int32_t i = 1; i <= a_.length; ++i) {
            if (words_a_.at[i] < 0) continue;
            for (int32_t j = words_b_.last[words_a_.at[i]]; j; j = words_b_.before[j]) ++counts_[i - j + b_.length];
        }
        order_.resize(n_diagonals_ + 1);
        for (int32_t d = 1; d <= n_diagonals_; ++d) order_[d] = d;
        const int32_t wanted = std::max(n_diagonals_ - rules_.n_top + 1, 1);
        put_best_last(counts_, order_, 1, n_diagonals_ - 1, wanted);
        is_taken_.assign(n_diagonals_ + 1, 0);
        for (int32_t k = n_diagonals_; k >= wanted; --k) {
            if (!counts_[k]) continue;
            const int32_t first = std::max(order_[k] - rules_.window, 1);
            const int32_t last = std::min(order_[k] + rules_.window, n_diagonals_);
            std::fill(is_taken_.begin() + first, is_taken_.begin() + last + 1, 1);
        }
    }

    /// Return the score of a piece extended by the k-mer at i of the same diagonal.
    int32_t beyond(const Piece &piece, int32_t i) const { return piece.score + std::min(i - piece.i, rules_.length); }

    /// Find the best chain that ends with the k-mer at (i, j): after the best piece that may precede it, or after
    /// the last one on its diagonal. False if there are too many pieces.
    bool add(int32_t i, int32_t j) {
        const int32_t diagonal = i - j + b_.length;
        int32_t score = rules_.length;
        for (int32_t k = best_; k; k = pieces_[k].next) {
            const Piece &piece = pieces_[k];
            if (piece.i - piece.j == i - j) {
                if (piece.i >= i) continue;
                score = beyond(piece, i);
            } else {
                if (piece.i + rules_.length > i || piece.j + rules_.length > j) continue;
                const int32_t latest = latest_[diagonal];
                if (latest) score = beyond(pieces_[latest], i);
                score = std::max(score, piece.score - rules_.gap + rules_.length);
            }
            break;
        }
        const auto number = static_cast<int32_t>(pieces_.size());
        if (number >= most_pieces_) return false;
        latest_[diagonal] = number;
        int32_t *place = &best_;
        while (*place && pieces_[*place].score > score) place = &pieces_[*place].next;
        const int32_t next = *place;
        *place = number;
        pieces_.push_back({score, i, j, next});
        return true;
    }

    const WordRules &rules_;
    int32_t n_words_, most_pieces_, n_diagonals_ = 0, best_ = 0;
    Residues a_{}, b_{};
    Words words_a_, words_b_;
    std::vector<int32_t> counts_, order_, latest_;  // by diagonal, from 1
    std::vector<uint8_t> is_taken_;
    std::vector<Piece> pieces_;  // index 0 is unused
};

int32_t number_of_words(const WordRules &rules) {
    int32_t n = 1;
    for (int32_t k = 0; k < rules.length; ++k) n *= rules.n_letters;
    return n;
}

/// All sequences in the layout of the kernels: forward and reversed.
class WordSequences {
  public:
    WordSequences(const ClustalwSequences &sequences, int32_t n_letters) : sequences_(sequences) {
        const int64_t n = sequences.n, first = n ? sequences.offsets[0] : 0;
        const int64_t n_residues = n ? sequences.offsets[n] - first : 0;
        letters_.resize(n_residues);
        reversed_.assign(n_residues + (n + 1) * kWordMargin, kNoReversedLetter);
        for (int64_t k = 0; k < n; ++k) {
            const Residues sequence = sequences[k];
            uint8_t *letters = letters_.data() + (sequences.offsets[k] - first),
                    *end = reversed_at(k) + sequence.length;
            for (int32_t i = 1; i <= sequence.length; ++i) {
                const bool is_letter = sequence[i] < n_letters;
                letters[i - 1] = is_letter ? sequence[i] : kNoLetter;
                *--end = is_letter ? sequence[i] : kNoReversedLetter;
            }
        }
    }

    WordPair pair(int64_t i, int64_t j) {
        return {letters_.data() + (sequences_.offsets[i] - sequences_.offsets[0]), sequences_[i].length, reversed_at(j),
                sequences_[j].length};
    }

  private:
    uint8_t *reversed_at(int64_t k) {
        return reversed_.data() + (sequences_.offsets[k] - sequences_.offsets[0]) + (k + 1) * kWordMargin;
    }

    const ClustalwSequences &sequences_;
    std::vector<uint8_t> letters_, reversed_;
};

/// Chains of one pair after another, by the kernels.
class QuickChains {
  public:
    QuickChains(const WordKernels &kernels, const WordRules &rules) : kernels_(kernels), rules_(rules) {}

    int32_t score(const WordPair &pair) {
        if (pair.n_a < rules_.length || pair.n_b < rules_.length) return 0;
        kernels_.count(pair, rules_.length, scratch_);
        take_diagonals(pair.n_diagonals());
        if (ranges_.empty()) return 0;
        constexpr int32_t kFull = 255;
        if (rules_.gap < kFull) {
            const int32_t found = kernels_.chain8(pair, rules_.length, rules_.gap, ranges_, scratch_);
            if (found < kFull) return found;
        }
        return kernels_.chain16(pair, rules_.length, rules_.gap, ranges_, scratch_);
    }

  private:
    /// Choose the ranges of the best diagonals with their neighbours.
    void take_diagonals(int32_t n_diagonals) {
        best_.clear();
        for (int32_t d = 0; d >= 0 && static_cast<int32_t>(best_.size()) < rules_.n_top;)
            if ((d = kernels_.take_best(scratch_, n_diagonals)) >= 0) best_.push_back(d);
        std::sort(best_.begin(), best_.end());
        ranges_.clear();
        for (const int32_t d : best_) {
            const int32_t begin = std::max(d - rules_.window, 0), end = std::min(d + rules_.window + 1, n_diagonals);
            if (ranges_.empty() || ranges_.back().end < begin) ranges_.push_back({begin, end});
            else ranges_.back().end = end;
        }
    }

    const WordKernels &kernels_;
    const WordRules &rules_;
    WordScratch scratch_;
    std::vector<int32_t> best_;
    std::vector<DiagonalRange> ranges_;
};

}  // namespace

bool clustalw_word_scores(const ClustalwSequences &sequences, const WordRules &rules, int n_threads, int32_t *scores,
                          const Poll &poll) {
    WordSequences prepared(sequences, rules.n_letters);
    std::vector<QuickChains> chains(n_threads, QuickChains(*selected_word_kernels(), rules));
    return parallel(
        n_threads, sequences.n - 1, 1,
        [&](int thread, int64_t i) {
            const int64_t begin = pair_row_begin(sequences.n, i);
            for (int64_t j = i + 1; j < sequences.n; ++j) scores[begin + j] = chains[thread].score(prepared.pair(i, j));
        },
        poll);
}

bool clustalw_word_scores_compat(const ClustalwSequences &sequences, const WordRules &rules, int n_threads,
                                 int32_t *scores, const Poll &poll) {
    int32_t longest = 0;
    for (int64_t k = 0; k < sequences.n; ++k) longest = std::max(longest, sequences[k].length);
    std::vector<WordChains> chains(n_threads, WordChains(rules, number_of_words(rules), 4 * longest));
    return parallel(
        n_threads, sequences.n - 1, 1,
        [&](int thread, int64_t i) {
            WordChains &mine = chains[thread];
            mine.set_first(sequences[i]);
            const int64_t begin = pair_row_begin(sequences.n, i);
            for (int64_t j = i + 1; j < sequences.n; ++j) scores[begin + j] = mine.score(sequences[j]);
        },
        poll);
}

}  // namespace tropalign

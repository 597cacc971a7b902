// A fuzzer of the pairwise engine: the bytes of an input say sequences, pairs, scoring, free ends, memory and threads;
// what the engine returns is compared with the definition (pairwise_oracle.hpp). Built with -fsanitize=fuzzer for
// libFuzzer, or with standalone.cpp, which makes inputs of its own.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>

#include "../../native/pairwise/cpu_plan.hpp"
#include "../../native/pairwise/interface.hpp"
#include "../../native/pairwise/orientation.hpp"
#include "../../native/pairwise/tile.hpp"
#include "pairwise_oracle.hpp"

using namespace tropalign;

namespace {

/// Numbers from the bytes of an input; 0 once they are used up.
class Numbers {
  public:
    explicit Numbers(std::span<const uint8_t> bytes) : bytes_(bytes) {}
    bool empty() const { return at_ >= bytes_.size(); }
    uint8_t byte() { return empty() ? 0 : bytes_[at_++]; }
    bool flag() { return byte() & 1; }
    /// Of [0, n), n up to 65536.
    int below(int n) { return n <= 1 ? 0 : (n > 256 ? byte() << 8 | byte() : byte()) % n; }

  private:
    std::span<const uint8_t> bytes_;
    size_t at_ = 0;
};

/// Symmetric; small, or so large that lanes of 8 or 16 bits cannot hold it.
std::vector<int32_t> random_matrix(Numbers &numbers, int n_letters, int scale) {
    std::vector<int32_t> matrix(kLetters * kLetters, -scale);
    const bool plain = numbers.flag();
    const int match = numbers.below(12), spread = 1 + numbers.below(24), shift = numbers.below(24);
    for (int a = 0; a < n_letters; ++a)
        for (int b = 0; b <= a; ++b) {
            const int score = plain ? (a == b ? match : -shift) : numbers.below(spread) - shift;
            matrix[a * kLetters + b] = matrix[b * kLetters + a] = score * scale;
        }
    return matrix;
}

/// A few relatives of some hundred letters: long enough, and like enough, for bands, wavefronts and sweeps to the
/// starts. Drawn, since so many letters would take all bytes of an input; sets of one seed are relatives, too.
std::vector<oracle::Codes> relatives(Numbers &numbers, int n_letters) {
    const int count = 1 + numbers.below(4), length = 100 + 2 * numbers.below(256), seed = numbers.below(4);
    const int differ = numbers.below(40), gaps = numbers.below(8), longest = 1 + numbers.below(60);
    std::minstd_rand first(static_cast<unsigned>(1 + seed)), draws(static_cast<unsigned>(1 + numbers.below(65536)));
    auto letter = [&](std::minstd_rand &from) { return static_cast<uint8_t>(from() % n_letters); };
    oracle::Codes ancestor;
    while (static_cast<int>(ancestor.size()) < length) ancestor.push_back(letter(first));
    std::vector<oracle::Codes> sequences(static_cast<size_t>(count));
    for (oracle::Codes &codes : sequences) {
        for (size_t k = 0; k < ancestor.size(); ++k) {
            if (static_cast<int>(draws() % 1000) < gaps) {
                const auto residues = 1 + draws() % static_cast<unsigned>(longest);
                if (draws() & 256) k += residues - 1;
                else
                    for (unsigned n = 0; n < residues; ++n) codes.push_back(letter(draws));
            } else {
                codes.push_back(static_cast<int>(draws() % 100) < differ ? letter(draws) : ancestor[k]);
            }
        }
        if (codes.empty()) codes.push_back(0);
    }
    return sequences;
}

/// Sequences of a few to some dozen letters, many of them relatives of the first; or relatives of some hundred; or a
/// few of more than a thousand, whose pairs are aligned one by one.
std::vector<oracle::Codes> random_sequences(Numbers &numbers, int n_letters) {
    const int kind = numbers.below(64);
    if (kind >= 55 && kind < 63) return relatives(numbers, n_letters);
    const bool are_long = kind == 63;
    const int count = are_long ? 2 + numbers.below(2) : 1 + numbers.below(70), longest = 1 + numbers.below(50);
    std::vector<oracle::Codes> sequences;
    for (int k = 0; k < count; ++k) {
        oracle::Codes codes;
        if (k > 0 && numbers.flag()) {
            for (const uint8_t code : sequences[0])
                if (const int fate = numbers.below(32); fate != 0)
                    codes.push_back(fate == 1 ? static_cast<uint8_t>(numbers.below(n_letters)) : code);
        } else {
            for (int left = numbers.below(longest); left > 0; --left)
                codes.push_back(static_cast<uint8_t>(numbers.below(n_letters)));
        }
        if (codes.empty()) codes.push_back(0);  // bindings refuse empty ones
        if (are_long)
            for (const oracle::Codes part = codes; codes.size() < 1200;) {
                codes.insert(codes.end(), part.begin(), part.end());
                codes[static_cast<size_t>(numbers.below(static_cast<int>(codes.size())))] = 0;
            }
        sequences.push_back(std::move(codes));
    }
    return sequences;
}

/// Sequences as the engine takes them.
struct Batch {
    std::vector<uint8_t> codes;
    std::vector<int64_t> offsets{0};

    explicit Batch(const std::vector<oracle::Codes> &sequences) : codes(kCodeMargin, kPadCode) {
        for (const oracle::Codes &sequence : sequences) {
            codes.insert(codes.end(), sequence.begin(), sequence.end());
            offsets.push_back(static_cast<int64_t>(codes.size()) - kCodeMargin);
        }
        codes.insert(codes.end(), kCodeMargin, kPadCode);
    }
    Sequences view() const {
        return {codes.data() + kCodeMargin, offsets.data(), static_cast<int64_t>(offsets.size()) - 1};
    }
};

[[noreturn]] void fail(const oracle::Rules &rules, Depth depth, const oracle::Codes &query, const oracle::Codes &target,
                       const oracle::Claim &claim, int64_t best, const std::string &fault) {
    std::fprintf(stderr, "%s: score %lld, best %lld; %s, open %d, extend %d, free ends %d%d%d%d, depth %d\n",
                 fault.c_str(), static_cast<long long>(claim.score), static_cast<long long>(best),
                 rules.local ? "local" : "global", rules.open, rules.extend, rules.free_query_start,
                 rules.free_query_end, rules.free_target_start, rules.free_target_end, static_cast<int>(depth));
    for (const oracle::Codes *codes : {&query, &target}) {
        for (const uint8_t code : *codes) std::fprintf(stderr, "%d ", code);
        std::fprintf(stderr, "\n");
    }
    std::abort();
}

void check_pair(const oracle::Rules &rules, Depth depth, const oracle::Codes &query, const oracle::Codes &target,
                TileColumns &found, int64_t k) {
    oracle::Claim claim{};
    const auto at = static_cast<size_t>(k);
    claim.score = found.score[at];
    if (depth != Depth::score) {
        claim.query_start = found.query_start[at], claim.query_end = found.query_end[at];
        claim.target_start = found.target_start[at], claim.target_end = found.target_end[at];
    }
    if (depth == Depth::alignment) {
        claim.identical = found.identical[at], claim.similar = found.similar[at];
        claim.gaps = found.gaps[at], claim.columns = found.columns[at];
        for (int64_t run = found.path_offsets[at]; run < found.path_offsets[at + 1]; ++run)
            claim.runs.push_back(found.path[static_cast<size_t>(run)]);
    }
    const int64_t best = oracle::best_score(rules, query, target);
    std::string fault = claim.score == best ? "" : "another score";
    if (fault.empty() && depth != Depth::score) fault = oracle::fault_of_ends(rules, query, target, claim);
    if (fault.empty() && depth == Depth::alignment) fault = oracle::fault_of_path(rules, query, target, claim);
    if (!fault.empty()) fail(rules, depth, query, target, claim, best, fault);
}

/// The engine of single pairs has to say what the tile says, to the path.
void check_alone(const Scoring &scoring, const TileRequest &request, const TileColumns &tile, int64_t k) {
    static UnitScratch scratch;
    const auto at = static_cast<size_t>(k);
    const Letters query = request.queries[request.query_index[k]], target = request.targets[request.target_index[k]];
    const bool query_in_rows = longer_in_rows(query.length, target.length).query_in_rows;
    LaneResult found{};
    const LanePair pair = lane_pair(request, k, query_in_rows);
    if (!selected_kernels()->run_similar(scoring, pair, {int64_t{32} << 20}, scratch, found) &&
        !selected_kernels()->run_short(scoring, pair, scratch, found))
        return;
    auto differs = [&](const char *what) {
        std::fprintf(stderr, "alone: another %s for pair %lld, depth %d\n", what, static_cast<long long>(k),
                     static_cast<int>(scoring.depth));
        std::abort();
    };
    if (found.score != tile.score[at]) differs("score");
    if (scoring.depth == Depth::score) return;
    const int32_t begin[] = {found.row_begin, found.column_begin}, end[] = {found.row_end, found.column_end};
    const int q = query_in_rows ? 0 : 1, t = 1 - q;
    if (begin[q] != tile.query_start[at] || end[q] != tile.query_end[at] || begin[t] != tile.target_start[at] ||
        end[t] != tile.target_end[at])
        differs("end");
    if (scoring.depth == Depth::ends) return;
#define X(count) \
    if (found.count != tile.count[at]) differs(#count);
    TROPALIGN_COUNTS(X)
#undef X
    const int64_t begin_of_path = tile.path_offsets[at];
    if (found.path_length != tile.path_offsets[at + 1] - begin_of_path) differs("path");
    for (int32_t run = 0; run < found.path_length; ++run) {
        uint32_t operation = found.path[run];
        const uint32_t kind = operation & 15;
        if (!query_in_rows && (kind == 1 || kind == 2)) operation ^= 3;  // insertions and deletions change places
        if (operation != tile.path[static_cast<size_t>(begin_of_path + run)]) differs("path");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Numbers numbers({data, size});
    const int n_letters = 1 + numbers.below(kPadCode);
    constexpr int kScales[] = {1, 1, 1, 10, 700, 20'000};
    const int scale = kScales[numbers.below(6)];
    const std::vector<int32_t> matrix = random_matrix(numbers, n_letters, scale);
    oracle::Rules rules{};
    rules.local = numbers.flag();
    rules.open = numbers.below(20) * scale, rules.extend = numbers.below(8) * scale;
    rules.matrix = matrix.data();
    const bool any_free = !rules.local && numbers.flag();
    for (bool *free :
         {&rules.free_query_start, &rules.free_query_end, &rules.free_target_start, &rules.free_target_end})
        *free = any_free && numbers.flag();
    const auto depth = static_cast<Depth>(numbers.below(3));
    const std::vector<oracle::Codes> queries = random_sequences(numbers, n_letters);
    const bool one_set = numbers.flag();
    const std::vector<oracle::Codes> targets = one_set ? queries : random_sequences(numbers, n_letters);
    const Batch query_batch(queries), target_batch(targets);

    std::vector<int64_t> query_index, target_index;
    const bool listed = numbers.flag(), few = numbers.flag();
    const int n_queries = static_cast<int>(queries.size()), n_targets = static_cast<int>(targets.size());
    auto is_long = [](const std::vector<oracle::Codes> &sequences) { return sequences.front().size() > 1000; };
    auto is_middle = [](const std::vector<oracle::Codes> &sequences) { return sequences.front().size() > 90; };
    const bool any_long = is_long(queries) || is_long(targets);
    const int most = any_long ? 4 : is_middle(queries) && is_middle(targets) ? 12 : 200;  // the definition is slow
    if (listed || any_long) {
        for (int left = numbers.below(most); left > 0; --left) {
            query_index.push_back(numbers.below(n_queries));
            target_index.push_back(numbers.below(n_targets));
        }
    } else {
        for (int q = 0; q < (few ? std::min(n_queries, 2) : std::min(n_queries, 20)); ++q)
            for (int t = 0; t < n_targets; ++t) query_index.push_back(q), target_index.push_back(t);
    }

    TileRequest request{};
    request.queries = query_batch.view(), request.targets = (one_set ? query_batch : target_batch).view();
    request.query_index = query_index.data(), request.target_index = target_index.data();
    request.n_pairs = static_cast<int64_t>(query_index.size());
    request.free_ends = {rules.free_query_start, rules.free_query_end, rules.free_target_start, rules.free_target_end};
    request.n_threads = 1 + numbers.below(3);
    const bool is_narrow = numbers.flag();
    request.memory_bytes = is_narrow ? 1 + 16 * numbers.below(65536) : int64_t{1} << 30;
    const Scoring scoring(rules.local ? Mode::local : Mode::global, depth, matrix.data(), rules.open, rules.extend);
    TileColumns found;
    try {
        found = align_tile(*selected_kernels(), scoring, request, [](int64_t) { return true; });
    } catch (const std::bad_alloc &) {
        if (is_narrow && depth == Depth::alignment) return 0;  // paths that do not fit: the scheduler sends fewer pairs
        throw;
    }
    for (int64_t k = 0; k < request.n_pairs; ++k) {
        const auto at = static_cast<size_t>(k);
        check_pair(rules, depth, queries[static_cast<size_t>(query_index[at])],
                   targets[static_cast<size_t>(target_index[at])], found, k);
        if (k < 32) check_alone(scoring, request, found, k);
    }
    return 0;
}

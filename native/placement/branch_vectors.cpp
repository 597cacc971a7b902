#include "branch_vectors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../compute/parallel.hpp"
#include "interface.hpp"
#include "kept_lanes.hpp"

namespace tropalign {
namespace {

constexpr int kBlock = 16;                   // columns per block: all vectors of a block stay in a cache
constexpr int kClosedGap = 1, kOpenGap = 2;  // CGAP and OPEN of Berger and Stamatakis 2011

/// One block of columns of all vectors. `Set` holds the states and the gap flag of a column.
template <class Set>
struct Block {
    std::vector<Set> states;        // [vector][kBlock]
    std::vector<double> base, gap;  // likelihoods (GapRule::likelihood only)
    std::vector<uint8_t> flags;     // GapRule::discrete only
    std::vector<uint8_t> is_tip;

    Block(int64_t n_vectors, GapRule rule)
        : states(n_vectors * kBlock), base(rule == GapRule::likelihood ? n_vectors * kBlock : 0), gap(base.size()),
          flags(rule == GapRule::discrete ? n_vectors * kBlock : 0), is_tip(n_vectors) {}
};

template <class Set>
Set parsimony(Set a, Set b) {  // Fitch 1971
    const Set both = a & b, any = a | b;
    return both ? both : any;
}

/// Likelihoods carried to the other end of a branch by its transition matrix.
struct AcrossBranch {
    double base, gap;
    AcrossBranch(const double *p, double from_base, double from_gap)
        : base(p[0] * from_base + p[1] * from_gap), gap(p[2] * from_base + p[3] * from_gap) {}
};

/// Return the flags of a node by the discrete rule, from its neighbours' flags (tips first if there are any).
uint8_t discrete(uint8_t a, bool a_is_tip, uint8_t b, bool b_is_tip) {
    const bool any_tip = a_is_tip || b_is_tip;
    auto in_gap = [any_tip](uint8_t flags) { return any_tip ? (flags & kClosedGap) != 0 : flags == kClosedGap; };
    const bool in_a = in_gap(a), in_b = in_gap(b);
    return in_a && in_b ? kClosedGap : in_a || in_b ? kClosedGap | kOpenGap : 0;
}

template <class Set>
class BlockOfColumns {
  public:
    BlockOfColumns(const VectorRequest &request, Block<Set> &block, int64_t first)
        : r_(request), b_(block), first_(first),
          n_(static_cast<int>(std::min<int64_t>(kBlock, request.n_columns - first))) {}

    /// Compute all directional vectors.
    void run() {
        for (int64_t tip = 0; tip < r_.n_tips; ++tip) take_tip(tip);
        for (int64_t k = 0; k < r_.n_joints; ++k) join(r_.joints[k]);
    }

    int n_columns() const { return n_; }

    /// Return a branch's state sets, with the gap flag in the bit above the last state; 0 beyond the last column.
    std::array<Set, kBlock> values(int64_t branch) const {
        const BranchEnds &ends = r_.branches[branch];
        const size_t one = at(ends.one), other = at(ends.other);
        std::array<Set, kBlock> found;
        std::array<uint8_t, kBlock> is_gap;
        if (r_.rule == GapRule::discrete) {
            for (int c = 0; c < kBlock; ++c)
                is_gap[c] = discrete(b_.flags[one + c], b_.is_tip[ends.one], b_.flags[other + c],
                                     b_.is_tip[ends.other]) == kClosedGap;
        } else {
            const double *p = r_.transitions + 4 * ends.transition;
            for (int c = 0; c < kBlock; ++c) {
                const AcrossBranch a(p, b_.base[one + c], b_.gap[one + c]);
                const AcrossBranch b(p, b_.base[other + c], b_.gap[other + c]);
                is_gap[c] = a.base * b.base < a.gap * b.gap;
            }
        }
        for (int c = 0; c < kBlock; ++c)
            found[c] = static_cast<Set>(parsimony(b_.states[one + c], b_.states[other + c]) |
                                        static_cast<Set>(is_gap[c] << r_.n_states));
        for (int c = n_; c < kBlock; ++c) found[c] = 0;
        return found;
    }

  private:
    static size_t at(int64_t vector) { return static_cast<size_t>(vector) * kBlock; }

    void take_tip(int64_t tip) {
        const uint8_t *letters = r_.letters + r_.tip_row[tip] * r_.n_letters;
        for (int c = 0; c < kBlock; ++c) {
            const uint32_t set = r_.sets[letters[r_.column[std::min(first_ + c, r_.n_columns - 1)]]];
            const bool gap = set == (1u << r_.n_states) - 1;
            b_.states[at(tip) + c] = static_cast<Set>(set);
            if (r_.rule == GapRule::discrete) b_.flags[at(tip) + c] = gap ? kClosedGap : 0;
            else b_.base[at(tip) + c] = gap ? 0.0 : 1.0, b_.gap[at(tip) + c] = gap ? 1.0 : 0.0;
        }
        b_.is_tip[tip] = 1;
    }

    void join(const Joint &joint) {
        const size_t l = at(joint.left), r = at(joint.right), to = at(joint.result);
        const Set *left_set = &b_.states[l], *right_set = &b_.states[r];
        Set *set = &b_.states[to];
        for (int c = 0; c < kBlock; ++c) set[c] = parsimony(left_set[c], right_set[c]);
        if (r_.rule == GapRule::discrete) {
            for (int c = 0; c < kBlock; ++c)
                b_.flags[to + c] =
                    discrete(b_.flags[l + c], b_.is_tip[joint.left], b_.flags[r + c], b_.is_tip[joint.right]);
        } else {
            join_likelihoods(r_.transitions + 4 * joint.left_transition, r_.transitions + 4 * joint.right_transition,
                             &b_.base[l], &b_.gap[l], &b_.base[r], &b_.gap[r], &b_.base[to], &b_.gap[to]);
        }
        b_.is_tip[joint.result] = 0;
    }

    static void join_likelihoods(const double *left, const double *right, const double *left_base,
                                 const double *left_gap, const double *right_base, const double *right_gap,
                                 double *__restrict base, double *__restrict gap) {
        for (int c = 0; c < kBlock; ++c) {
            const AcrossBranch one(left, left_base[c], left_gap[c]), other(right, right_base[c], right_gap[c]);
            const double b = one.base * other.base, g = one.gap * other.gap;
            const double scale = std::max(std::abs(b), std::abs(g)) < 0x1p-256 ? 0x1p256 : 1.0;
            base[c] = b * scale, gap[c] = g * scale;
        }
    }

    const VectorRequest &r_;
    Block<Set> &b_;
    const int64_t first_;
    const int n_;
};

uint64_t mixed(uint64_t x) {  // splitmix64 (Steele, Lea and Flood 2014)
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// 128-bit hash of a branch's vector: equal vectors have equal hashes, and different vectors practically never do.
/// The result is a sum over blocks of columns, so that the order in which threads take them does not matter.
struct VectorHash {
    uint64_t one = 0, other = 0;

    template <class Set>
    void add(const std::array<Set, kBlock> &values, int64_t number) {
        std::array<uint64_t, sizeof(values) / sizeof(uint64_t)> words;
        std::memcpy(words.data(), values.data(), sizeof(values));
        uint64_t place = static_cast<uint64_t>(number) * words.size();
        for (uint64_t word : words) {
            ++place;
            one += mixed(word + mixed(place * 0x9e3779b97f4a7c15));
            other += mixed(~word * 0x9e3779b97f4a7c15 + mixed(~place * 0xd1342543de82ef95));
        }
    }
    bool operator==(const VectorHash &) const = default;
};
struct HashOfHash {
    size_t operator()(const VectorHash &hash) const { return hash.one; }
};

/// Return bit `plane` of the values of 64 branches as the bits of a word. Of 8 bytes at a time, each byte's lowest
/// bit moves to the uppermost byte. The factor has the bits 7, 14, ..., 56: bit 8 k times bit 56 - 7 k is bit 56 +
/// k, and no two products meet in one bit, so that nothing carries.
uint64_t plane_of(const uint8_t *bytes, int plane) {
    uint64_t word = 0;
    for (int k = 0; k < 8; ++k) {
        uint64_t eight;
        std::memcpy(&eight, bytes + 8 * k, 8);
        if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
        word |= ((eight >> plane & 0x0101010101010101) * 0x0102040810204080 >> 56) << 8 * k;
    }
    return word;
}

/// Add a block's columns of all branches to the planes and to the hashes.
template <class Set>
void take_block(const VectorRequest &request, const BlockOfColumns<Set> &block, int64_t number, uint64_t *words,
                int64_t n_columns, VectorHash *hash) {
    const int n_planes = request.n_states + 1;
    const int64_t first = n_columns - request.n_columns + number * kBlock;
    uint8_t bytes[sizeof(Set)][kBlock][kPlaceLanes];  // values by [byte][column][lane]
    for (int64_t begin = 0; begin < request.n_branches; begin += kPlaceLanes) {
        const auto n_lanes = static_cast<int>(std::min<int64_t>(kPlaceLanes, request.n_branches - begin));
        for (int lane = 0; lane < n_lanes; ++lane) {
            const std::array<Set, kBlock> values = block.values(begin + lane);
            hash[begin + lane].add(values, number);
            for (size_t byte = 0; byte < sizeof(Set); ++byte)
                for (int c = 0; c < kBlock; ++c) bytes[byte][c][lane] = static_cast<uint8_t>(values[c] >> 8 * byte);
        }
        uint64_t *word = words + (begin / kPlaceLanes * n_columns + first) * n_planes;
        for (int c = 0; c < block.n_columns(); ++c)
            for (int plane = 0; plane < n_planes; ++plane) *word++ = plane_of(bytes[plane / 8][c], plane % 8);
    }
}

template <class Set>
DistinctVectors distinct_of(const VectorRequest &request) {
    const int64_t n_blocks = (request.n_columns + kBlock - 1) / kBlock;
    const int64_t n_columns = (request.n_columns + kPlaceColumns - 1) / kPlaceColumns * kPlaceColumns;
    const int64_t n_groups = (request.n_branches + kPlaceLanes - 1) / kPlaceLanes;
    const int n_threads = useful_threads(request.n_threads, n_blocks, 1);
    DistinctVectors made;
    made.words.resize(static_cast<size_t>(n_groups * n_columns * (request.n_states + 1)));
    std::vector<std::vector<VectorHash>> hashes(n_threads, std::vector<VectorHash>(request.n_branches));
    std::vector<std::unique_ptr<Block<Set>>> blocks(n_threads);
    parallel(request.n_threads, n_blocks, 1, [&](int thread, int64_t number) {
        if (!blocks[thread]) blocks[thread] = std::make_unique<Block<Set>>(request.n_vectors, request.rule);
        BlockOfColumns<Set> block(request, *blocks[thread], number * kBlock);
        block.run();
        take_block(request, block, number, made.words.data(), n_columns, hashes[thread].data());
    });
    std::unordered_map<VectorHash, int64_t, HashOfHash> number_of;
    std::vector<int64_t> kept;
    for (int64_t k = 0; k < request.n_branches; ++k) {
        VectorHash sum;
        for (const std::vector<VectorHash> &part : hashes) sum.one += part[k].one, sum.other += part[k].other;
        const auto [entry, is_new] = number_of.try_emplace(sum, static_cast<int64_t>(kept.size()));
        if (is_new) kept.push_back(k);
        made.distinct.push_back(entry->second);
    }
    made.n_distinct = static_cast<int64_t>(kept.size());
    keep_lanes(made.words, n_columns * (request.n_states + 1), kept);
    return made;
}

}  // namespace

DistinctVectors distinct_vectors(const VectorRequest &request) {
    return request.n_states < 8 ? distinct_of<uint8_t>(request) : distinct_of<uint32_t>(request);
}

}  // namespace tropalign

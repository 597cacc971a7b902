#include "branch_vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../compute/parallel.hpp"
#include "interface.hpp"

namespace tropalign {
namespace {

constexpr int kBlock = 16;                   // columns at a time: all vectors of a block stay in a cache
constexpr int kClosedGap = 1, kOpenGap = 2;  // the paper's CGAP and OPEN

/// Columns of a block of every vector.
struct Block {
    std::vector<uint32_t> states;   // [vector][kBlock]
    std::vector<double> base, gap;  // likelihoods
    std::vector<uint8_t> flags;     // of the discrete rule
    std::vector<uint8_t> is_tip;
};

uint32_t parsimony(uint32_t a, uint32_t b) { return (a & b) ? (a & b) : (a | b); }  // Fitch 1971

/// The likelihoods at the other end of a branch.
struct AcrossBranch {
    double base, gap;
    AcrossBranch(const double *p, double from_base, double from_gap)
        : base(p[0] * from_base + p[1] * from_gap), gap(p[2] * from_base + p[3] * from_gap) {}
};

/// The discrete rule's flags of a node from its neighbours' (tips first where there are any).
uint8_t discrete(uint8_t a, bool a_is_tip, uint8_t b, bool b_is_tip) {
    const bool any_tip = a_is_tip || b_is_tip;
    auto in_gap = [any_tip](uint8_t flags) { return any_tip ? (flags & kClosedGap) != 0 : flags == kClosedGap; };
    const bool in_a = in_gap(a), in_b = in_gap(b);
    return in_a && in_b ? kClosedGap : in_a || in_b ? kClosedGap | kOpenGap : 0;
}

class BlockOfColumns {
  public:
    BlockOfColumns(const VectorRequest &request, Block &block, int64_t first)
        : r_(request), b_(block), first_(first),
          n_(static_cast<int>(std::min<int64_t>(kBlock, request.n_columns - first))) {}

    /// Computes all directional vectors.
    void run() {
        for (int64_t tip = 0; tip < r_.n_tips; ++tip) take_tip(tip);
        for (int64_t k = 0; k < r_.n_joints; ++k) join(r_.joints[k]);
    }

    int n_columns() const { return n_; }

    /// A branch's state set, and its gap flag in the bit above the last state.
    uint32_t value(int64_t branch, int c) const {
        const BranchEnds &ends = r_.branches[branch];
        const uint32_t set = parsimony(b_.states[at(ends.one, c)], b_.states[at(ends.other, c)]);
        return set | static_cast<uint32_t>(is_gap(ends, c)) << r_.n_states;
    }

  private:
    static size_t at(int64_t vector, int column) { return static_cast<size_t>(vector) * kBlock + column; }

    void take_tip(int64_t tip) {
        for (int c = 0; c < n_; ++c) {
            const uint32_t set = r_.sets[r_.letters[r_.tip_row[tip] * r_.n_letters + r_.column[first_ + c]]];
            const bool gap = set == (1u << r_.n_states) - 1;
            b_.states[at(tip, c)] = set;
            b_.base[at(tip, c)] = gap ? 0.0 : 1.0, b_.gap[at(tip, c)] = gap ? 1.0 : 0.0;
            b_.flags[at(tip, c)] = gap ? kClosedGap : 0;
        }
        b_.is_tip[tip] = 1;
    }

    void join(const Joint &joint) {
        const double *left = r_.transitions + 4 * joint.left_transition,
                     *right = r_.transitions + 4 * joint.right_transition;
        for (int c = 0; c < n_; ++c) {
            const size_t l = at(joint.left, c), r = at(joint.right, c), to = at(joint.result, c);
            b_.states[to] = parsimony(b_.states[l], b_.states[r]);
            const AcrossBranch one(left, b_.base[l], b_.gap[l]), other(right, b_.base[r], b_.gap[r]);
            double base = one.base * other.base, gap = one.gap * other.gap;
            if (std::abs(base) < 0x1p-256 && std::abs(gap) < 0x1p-256) base *= 0x1p256, gap *= 0x1p256;
            b_.base[to] = base, b_.gap[to] = gap;
            b_.flags[to] = discrete(b_.flags[l], b_.is_tip[joint.left], b_.flags[r], b_.is_tip[joint.right]);
        }
        b_.is_tip[joint.result] = 0;
    }

    bool is_gap(const BranchEnds &ends, int c) const {
        const size_t l = at(ends.one, c), r = at(ends.other, c);
        if (r_.rule == GapRule::discrete)
            return discrete(b_.flags[l], b_.is_tip[ends.one], b_.flags[r], b_.is_tip[ends.other]) == kClosedGap;
        const double *p = r_.transitions + 4 * ends.transition;
        const AcrossBranch one(p, b_.base[l], b_.gap[l]), other(p, b_.base[r], b_.gap[r]);
        return one.base * other.base < one.gap * other.gap;
    }

    const VectorRequest &r_;
    Block &b_;
    const int64_t first_;
    const int n_;
};

int64_t n_blocks_of(const VectorRequest &request) { return (request.n_columns + kBlock - 1) / kBlock; }

/// Threads that find a block to work on.
int busy_threads(const VectorRequest &request) { return useful_threads(request.n_threads, n_blocks_of(request), 1); }

/// Calls visit(thread, first column, block) for all columns, a block at a time.
template <class Visit>
void for_all_blocks(const VectorRequest &request, Visit visit) {
    const size_t size = static_cast<size_t>(request.n_vectors) * kBlock;
    std::vector<Block> blocks(busy_threads(request));
    auto work = [&](int thread, int64_t number) {
        Block &block_memory = blocks[thread];
        if (block_memory.states.empty()) {
            block_memory.states.resize(size), block_memory.base.resize(size), block_memory.gap.resize(size),
                block_memory.flags.resize(size);
            block_memory.is_tip.resize(request.n_vectors);
        }
        BlockOfColumns block(request, block_memory, number * kBlock);
        block.run();
        visit(thread, number * kBlock, block);
    };
    parallel(request.n_threads, n_blocks_of(request), 1, work);
}

uint64_t mixed(uint64_t x) {  // splitmix64 (Steele, Lea and Flood 2014)
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

}  // namespace

std::vector<VectorHash> hash_branches(const VectorRequest &request) {
    // Sums over columns, so that the order in which threads take them does not matter.
    const int n_threads = busy_threads(request);
    std::vector<std::vector<VectorHash>> sums(n_threads, std::vector<VectorHash>(request.n_branches));
    for_all_blocks(request, [&](int thread, int64_t first, const BlockOfColumns &block) {
        for (int64_t k = 0; k < request.n_branches; ++k)
            for (int c = 0; c < block.n_columns(); ++c) {
                const uint64_t cell = static_cast<uint64_t>(first + c) << 32 | block.value(k, c);
                sums[thread][k].one += mixed(cell + 0x9e3779b97f4a7c15);
                sums[thread][k].other += mixed(~cell * 0x9e3779b97f4a7c15);
            }
    });
    for (int thread = 1; thread < n_threads; ++thread)
        for (int64_t k = 0; k < request.n_branches; ++k)
            sums[0][k].one += sums[thread][k].one, sums[0][k].other += sums[thread][k].other;
    return std::move(sums[0]);
}

std::vector<uint64_t> branch_planes(const VectorRequest &request, const int64_t *branch, int64_t n_chosen) {
    const int n_planes = request.n_states + 1;
    const int64_t n_columns = (request.n_columns + kPlaceColumns - 1) / kPlaceColumns * kPlaceColumns;
    const int64_t n_empty = n_columns - request.n_columns, n_groups = (n_chosen + kPlaceLanes - 1) / kPlaceLanes;
    std::vector<uint64_t> words(static_cast<size_t>(n_groups * n_columns * n_planes));
    for_all_blocks(request, [&](int, int64_t first, const BlockOfColumns &block) {
        for (int64_t lane = 0; lane < n_groups * kPlaceLanes; ++lane) {
            const int64_t k = branch[std::min(lane, n_chosen - 1)];
            uint64_t *word = &words[(lane / kPlaceLanes * n_columns + n_empty + first) * n_planes];
            const uint64_t bit = uint64_t{1} << lane % kPlaceLanes;
            for (int c = 0; c < block.n_columns(); ++c, word += n_planes)
                for (uint32_t left = block.value(k, c); left; left &= left - 1) word[std::countr_zero(left)] |= bit;
        }
    });
    return words;
}

}  // namespace tropalign

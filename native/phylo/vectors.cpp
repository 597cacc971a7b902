#include "vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../compute/pool.hpp"

namespace tropalign {
namespace {

constexpr int kBlock = 32;  // columns at a time: all vectors of a block stay in a cache
constexpr int kClosedGap = 1, kOpenGap = 2;

/// Columns of a block of every vector.
struct Block {
    std::vector<uint32_t> states;     // [vector][kBlock]
    std::vector<double> base, gap;    // likelihoods
    std::vector<uint8_t> flags;       // of the discrete rule
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
    const bool in_a = any_tip ? (a & kClosedGap) != 0 : a == kClosedGap, in_b = any_tip ? (b & kClosedGap) != 0 : b == kClosedGap;
    return in_a && in_b ? kClosedGap : in_a || in_b ? kClosedGap | kOpenGap : 0;
}

class BlockOfColumns {
  public:
    BlockOfColumns(const VectorRequest &request, Block &block, int64_t first)
        : r_(request), b_(block), first_(first), n_(static_cast<int>(std::min<int64_t>(kBlock, request.n_columns - first))) {}

    template <class Out>
    void run(Out *out) {
        for (int64_t tip = 0; tip < r_.n_tips; ++tip) take_tip(tip);
        for (int64_t k = 0; k < r_.n_joints; ++k) join(r_.joints[k]);
        const int flag_bit = std::bit_width(r_.all_states);
        for (int64_t k = 0; k < r_.n_branches; ++k)
            for (int c = 0; c < n_; ++c) {
                const BranchEnds &ends = r_.branches[k];
                const uint32_t set = parsimony(b_.states[at(ends.one, c)], b_.states[at(ends.other, c)]);
                out[k * r_.n_columns + first_ + c] = static_cast<Out>(set | (is_gap(ends, c) ? 1u << flag_bit : 0u));
            }
    }

  private:
    static size_t at(int64_t vector, int column) { return static_cast<size_t>(vector) * kBlock + column; }

    void take_tip(int64_t tip) {
        for (int c = 0; c < n_; ++c) {
            const uint32_t set = r_.tips[tip * r_.n_columns + first_ + c];
            const bool gap = set == r_.all_states;
            b_.states[at(tip, c)] = set;
            b_.base[at(tip, c)] = gap ? 0.0 : 1.0, b_.gap[at(tip, c)] = gap ? 1.0 : 0.0;
            b_.flags[at(tip, c)] = gap ? kClosedGap : 0;
        }
        b_.is_tip[tip] = 1;
    }

    void join(const Joint &joint) {
        const double *left = r_.transitions + 4 * joint.left_transition, *right = r_.transitions + 4 * joint.right_transition;
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

template <class Out>
void all_blocks(const VectorRequest &request, Out *out) {
    const size_t size = static_cast<size_t>(request.n_vectors) * kBlock;
    std::vector<Block> blocks(request.n_threads);
    const int64_t n_blocks = (request.n_columns + kBlock - 1) / kBlock;
    auto work = [&](int thread, int64_t block) {
        Block &own = blocks[thread];
        if (own.states.empty()) {
            own.states.resize(size), own.base.resize(size), own.gap.resize(size), own.flags.resize(size);
            own.is_tip.resize(request.n_vectors);
        }
        BlockOfColumns(request, own, block * kBlock).run(out);
    };
    parallel(request.n_threads, n_blocks, 1, work, [](int64_t) { return true; });
}

}  // namespace

void branch_vectors(const VectorRequest &request, uint8_t *out) { all_blocks(request, out); }
void branch_vectors(const VectorRequest &request, uint32_t *out) { all_blocks(request, out); }

}  // namespace tropalign

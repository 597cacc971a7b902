// Kernels of stochastic traces and of their clusters.
#include <algorithm>
#include <bit>

#include "trace_null2.hpp"
#include "trace_walk.hpp"
#include "traces.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Draws traces, and sums the odds of the residues in their domains.
class Draw {
  public:
    Draw(const TraceWork &work, TraceRandom &random, std::vector<Segment> &segments, float *scores)
        : work_(work), walk_(work, random), segments_(segments), scores_(scores),
          has_ambiguous_(std::any_of(work.codes, work.codes + work.matrix.L, [](uint8_t code) { return code > 20; })) {}

    /// Draw a trace from right to left; its domains are put in order at the end.
    void trace(int32_t number) {
        const size_t first = segments_.size();
        int32_t done = work_.matrix.L;  // residues from here on have been counted
        for (int32_t i = walk_.end_before_C(done); i > 0;) {
            Segment segment;
            if (!walk_.domain(i, segment)) break;
            segment.trace = number;
            add_domain(segment, done);
            segments_.push_back(segment);
            done = segment.begin;
            if (walk_.is_from_N(done)) break;
            i = walk_.end_before_J(done);
        }
        add_outside(0, done);
        std::reverse(segments_.begin() + static_cast<ptrdiff_t>(first), segments_.end());
    }

  private:
    void add_outside(int32_t begin, int32_t end) {
        for (int32_t i = begin; i < end; ++i) scores_[i] += 1.0f;
    }

    void add_domain(const Segment &segment, int32_t done) {
        DomainOdds odds(work_.tables, walk_.counts(), segment);
        if (has_ambiguous_) odds.set_ambiguous();
        const int32_t second = segment.begin + 1;  // HMMER counts the first residue as outside the domain
        add_outside(segment.end, done);
        add_outside(segment.begin, second);
        odds.add_to(scores_ + second, work_.codes + second, segment.end - second);
    }

    const TraceWork &work_;
    TraceWalk walk_;
    std::vector<Segment> &segments_;
    float *scores_;
    const bool has_ambiguous_;
};

void draw(const TraceWork &work, TraceRandom &random, std::vector<Segment> &segments, float *scores) {
    Draw all(work, random, segments, scores);
    for (int32_t t = 0; t < work.n_traces; ++t) all.trace(t);
}

using V = Vec<int32_t, kVectorBytes>;
using L = Lanes<int32_t, kVectorBytes>;

[[gnu::always_inline]] inline V smaller(V a, V b) { return a < b ? a : b; }
[[gnu::always_inline]] inline V distance(V a, V b) { return vmax(a - b, b - a); }
/// Return at least 0 if `part` is 4/5 of `whole` or more.
[[gnu::always_inline]] inline V beyond_most(V part, V whole) { return (part << 2) + part - (whole << 2); }

size_t linked(const SegmentColumns &columns, size_t first, size_t last, const Segment &segment, int32_t diagonals,
              int32_t *out) {
    const auto all = [](int32_t x) { return splat<int32_t, kVectorBytes>(x); };
    const V begin = all(segment.begin), end = all(segment.end), model_begin = all(segment.model_begin),
            model_end = all(segment.model_end);
    const auto column = [](const std::vector<int32_t> &values, size_t k) {
        return load<int32_t, kVectorBytes>(values.data() + k);
    };
    size_t n = 0;
    for (size_t k = first; k < last; k += L::count) {
        const V b = column(columns.begin, k), e = column(columns.end, k), mb = column(columns.model_begin, k),
                me = column(columns.model_end, k);
        const V residues = beyond_most(smaller(e, end) - vmax(b, begin), smaller(e - b, end - begin));
        // HMMER counts one node less in the model.
        const V nodes =
            beyond_most(smaller(me, model_end) - vmax(mb, model_begin) - 1, smaller(me - mb, model_end - model_begin));
        const V apart = smaller(distance(b - mb, begin - model_begin), distance(e - me, end - model_end));
        const V slack = smaller(smaller(residues, nodes), diagonals - apart);
        for (uint64_t bits = widened(gt_bits<int32_t, kVectorBytes>(slack, all(-1))); bits;) {
            const int bit = std::countr_zero(bits), lane = bit / L::bits_per_lane;
            bits &= ~(((uint64_t{1} << L::bits_per_lane) - 1) << bit);
            if (k + lane < last) out[n++] = static_cast<int32_t>(k) + lane;
        }
    }
    return n;
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const EnsembleKernels ensemble_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), draw, linked};

}  // namespace tropalign::TROPALIGN_ISA

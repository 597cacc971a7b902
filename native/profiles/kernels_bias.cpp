// The kernels of the biased-composition filter (recurrence in bias.hpp), compiled per instruction set.
#include "bias.hpp"
#include "float_logs.hpp"
#include "target_slots.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Vectors of B bytes, a lane per target.
template <int B, int vectors>
class BiasSweep {
  public:
    static constexpr int kLanes = Lanes<float, B>::count, kSlots = vectors * kLanes;

    BiasSweep(const BiasModel &model, std::span<BiasTarget> targets) : model_(model), slots_(targets) {}

    void run() {
        while (refill()) {
            const int32_t rows = slots_.common_rows(kRows);
            for (int s = 0; s < kSlots; ++s)
                if (slots_[s].target)
                    for (int32_t r = 0; r < rows; ++r) odds_[r][s] = model_.odds[slots_[s].codes[r]];
            slots_.advance(rows);
            sweep(rows);
            logarithms(highest_[0], static_cast<size_t>(rows) * kSlots);
            for (int v = 0; v < vectors; ++v) {
                V nats = at(nats_, v);
                for (int32_t r = 0; r < rows; ++r) nats += at(highest_[r], v);
                store<float, B>(nats_ + v * kLanes, nats);
            }
        }
    }

  private:
    using V = Vec<float, B>;
    using Mask = Vec<int32_t, B>;
    static constexpr int32_t kRows = 32;

    bool refill() {
        std::fill_n(is_new_, kSlots, 0);
        return slots_.refill(
            [&](int s, BiasTarget &target) {
                target.nats = nats_[s];
                target.end = background_[s] + foreground_[s];
            },
            [&](int s, const BiasTarget &target) {
                stay_[s] = target.stay, leave_[s] = target.leave;
                is_new_[s] = -1, nats_[s] = 0;
            },
            [&](int s) {  // idle lane: stays in the background, so that all logarithms are 0
                stay_[s] = background_[s] = 1, leave_[s] = foreground_[s] = 0;
                for (auto &row : odds_) row[s] = 1;
            });
    }

    void sweep(int32_t rows) {
        V b[vectors], f[vectors], stay[vectors], leave[vectors];
        for (int v = 0; v < vectors; ++v) {
            b[v] = at(background_, v), f[v] = at(foreground_, v), stay[v] = at(stay_, v), leave[v] = at(leave_, v);
        }
        for (int32_t r = 0; r < rows; ++r)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                V next_b = b[v] * stay[v] + f[v] * model_.to_background;
                V next_f = b[v] * leave[v] + f[v] * model_.stay_foreground;
                if (r == 0) {
                    const Mask is_new = load<int32_t, B>(is_new_ + v * kLanes);
                    next_b = is_new ? every<V>(kFirstBackground) : next_b;
                    next_f = is_new ? every<V>(kFirstForeground) : next_f;
                }
                next_f *= at(odds_[r], v);
                const V highest = larger(next_b, next_f);
                b[v] = next_b / highest, f[v] = next_f / highest;
                store<float, B>(highest_[r] + v * kLanes, highest);
            }
        for (int v = 0; v < vectors; ++v) {
            store<float, B>(background_ + v * kLanes, b[v]);
            store<float, B>(foreground_ + v * kLanes, f[v]);
        }
    }

    [[gnu::always_inline]] static V at(const float *lanes, int v) { return load<float, B>(lanes + v * kLanes); }

    const BiasModel &model_;
    TargetSlots<BiasTarget, kSlots> slots_;
    alignas(64) float odds_[kRows][kSlots], highest_[kRows][kSlots];
    alignas(64) float background_[kSlots], foreground_[kSlots], stay_[kSlots], leave_[kSlots], nats_[kSlots];
    alignas(64) int32_t is_new_[kSlots];
};

template <int B, int vectors>
void sweep(const BiasModel &model, std::span<BiasTarget> targets) {
    BiasSweep<B, vectors>(model, targets).run();
}

// One vector of 64 bytes is enough work to hide latencies; narrower ones need two at a time.
constexpr int kVectors = kVectorBytes == 64 ? 1 : 2;
constexpr BiasArrangement few{BiasSweep<16, 1>::kSlots, sweep<16, 1>};
constexpr BiasArrangement many{BiasSweep<kVectorBytes, kVectors>::kSlots, sweep<kVectorBytes, kVectors>};

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const BiasKernels bias_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), few, many, logarithms};

}  // namespace tropalign::TROPALIGN_ISA

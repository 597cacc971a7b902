// The Viterbi filter with a lane per target (recurrence in viterbi.hpp): every lane is at the same node, in a row
// of its own target. D passes from node to node in a register.
#pragma once
#include <type_traits>

#include "../simd/bytes.hpp"
#include "target_slots.hpp"
#include "viterbi.hpp"

namespace tropalign::TROPALIGN_ISA {

using Words = Vec<int16_t, kVectorBytes>;
inline constexpr int kWordLanes = Lanes<int16_t, kVectorBytes>::count;

[[gnu::always_inline]] inline Words add(Words a, Words b) { return adds<int16_t, kVectorBytes>(a, b); }
[[gnu::always_inline]] inline Words every_word(int16_t x) { return splat<int16_t, kVectorBytes>(x); }
[[gnu::always_inline]] inline Words every_word(const ViterbiLaneTables::Twice &twice) {
    int32_t both;
    std::memcpy(&both, twice.data(), sizeof both);
    return (Words)splat<int32_t, kVectorBytes>(both);
}

// Residues of a row, one per slot, and their match scores at a node. With AVX-512 a node's scores are the 16-bit words
// of one vector, indexed by residues. Otherwise residues are bytes that index the low and the high bytes of the scores;
// as these are interleaved within 16 bytes, the slots of two vectors a and b are arranged as follows:
//
//     byte of the residues     0 ..  7    8 .. 15    16 .. 23    24 .. 31
//     lane of the score        a0 .. a7   b0 .. b7   a8 .. a15   b8 .. b15
inline constexpr ViterbiLookup kLookup = kVectorBytes == 64 ? ViterbiLookup::words : ViterbiLookup::bytes;

template <int groups, ViterbiLookup lookup>
class RowResiduesBy;
template <int groups>
using RowResidues = RowResiduesBy<groups, kLookup>;

template <int groups>
class RowResiduesBy<groups, ViterbiLookup::words> {
  public:
    using Code = uint16_t;

    [[gnu::always_inline]] explicit RowResiduesBy(const Code *codes) {
        for (int g = 0; g < groups; ++g) index_[g] = load<int16_t, kVectorBytes>(codes + g * kWordLanes);
    }
    [[gnu::always_inline]] void scores(const ViterbiLaneTables::Match &match, Words (&out)[groups]) const {
        const auto words = load<int16_t, kVectorBytes>(match.data());
        for (int g = 0; g < groups; ++g) out[g] = lookup_words<kVectorBytes>(words, index_[g]);
    }
    /// Return the lane of a slot, counted over the vectors of a row.
    static constexpr int lane_of(int slot) { return slot; }

  private:
    Words index_[groups];
};

template <>
class RowResiduesBy<2, ViterbiLookup::bytes> {
  public:
    using Code = uint8_t;

    [[gnu::always_inline]] explicit RowResiduesBy(const Code *codes) : index_(load<int8_t, kVectorBytes>(codes)) {}
    [[gnu::always_inline]] void scores(const ViterbiLaneTables::Match &match, Words (&out)[2]) const {
        const auto *bytes = reinterpret_cast<const int8_t *>(match.data());
        const auto low = lookup32<kVectorBytes>(bytes, index_);
        const auto high = lookup32<kVectorBytes>(bytes + kViterbiCodes, index_);
        out[0] = (Words)unpack_low<kVectorBytes>(low, high);
        out[1] = (Words)unpack_high<kVectorBytes>(low, high);
    }
    static constexpr int lane_of(int slot) { return slot % 16 / 8 * kWordLanes + slot / 16 * 8 + slot % 8; }

  private:
    Vec<int8_t, kVectorBytes> index_;
};

/// One or two vectors of targets, which share the loads from the tables.
template <int groups>
class LaneSweep {
  public:
    static constexpr int kSlots = groups * kWordLanes;

    LaneSweep(const ViterbiLaneTables &tables, std::span<ViterbiTarget> targets, void *scratch)
        : tables_(tables), state_(static_cast<Words *>(scratch)), slots_(targets) {}

    void run() {
        while (refill()) {
            const int32_t rows = slots_.common_rows(kRows);
            for (int s = 0; s < kSlots; ++s)
                if (slots_[s].target)
                    for (int32_t r = 0; r < rows; ++r) codes_[r][s] = slots_[s].codes[r];
            slots_.advance(rows);
            row<true>(codes_[0]);
            for (int32_t r = 1; r < rows; ++r) row<false>(codes_[r]);
        }
    }

  private:
    using Row = RowResidues<groups>;
    static constexpr int32_t kRows = 32;

    bool refill() {
        std::fill_n(is_new_, kSlots, int16_t{0});
        return slots_.refill([&](int s, ViterbiTarget &target) { target.end = xC_[Row::lane_of(s)]; },
                             [&](int s, const ViterbiTarget &target) {
                                 const int lane = Row::lane_of(s);
                                 is_new_[lane] = -1, xC_[lane] = kViterbiLowest, move_[lane] = target.move;
                             },
                             [&](int s) {
                                 for (auto &row : codes_) row[s] = kResidues;
                             });
    }

    /// Compute a row of all nodes; `may_begin`: it may be the first row of some targets, whose state is cleared.
    template <bool may_begin>
    [[gnu::noinline]] void row(const typename Row::Code *codes) {
        const Row residues(codes);
        Words xB[groups], xE[groups], d[groups], above[groups], fresh[groups];  // above: E(k)
        each([&](auto g) {
            xB[g] = add(vmax(at(xC_, g), every_word(kViterbiBase)), at(move_, g));
            xE[g] = d[g] = above[g] = every_word(kViterbiLowest);
            if constexpr (may_begin) fresh[g] = at(is_new_, g);
        });
        Words *state = state_;
        for (int32_t k = 0; k < tables_.M; ++k, state += 2 * groups) {
            // If each transition is processed for both groups, in this order, 16 registers suffice.
            const ViterbiLaneTables::Node &node = tables_.nodes[static_cast<size_t>(k)];
            Words m[groups], i[groups], entry[groups];
            residues.scores(tables_.match[static_cast<size_t>(k)], m);
            each(node[kStepBM], [&](auto g, Words bm) {
                if constexpr (may_begin) above[g] = cleared(above[g], fresh[g]);
                m[g] = add(vmax(add(xB[g], bm), above[g]), m[g]);
                xE[g] = vmax(xE[g], m[g]);
                i[g] = state[2 * g];
                if constexpr (may_begin) i[g] = cleared(i[g], fresh[g]);
            });
            each(node[kStepMM], [&](auto g, Words mm) { entry[g] = add(m[g], mm); });
            each(node[kStepIM], [&](auto g, Words im) { entry[g] = vmax(entry[g], add(i[g], im)); });
            each(node[kStepII], [&](auto g, Words ii) { i[g] = add(i[g], ii); });
            each(node[kStepMI], [&](auto g, Words mi) { state[2 * g] = vmax(i[g], add(m[g], mi)); });
            each(node[kStepDM], [&](auto g, Words dm) {
                above[g] = state[2 * g + 1];  // D of the row above, before this row's is written
                state[2 * g + 1] = vmax(entry[g], add(d[g], dm));
            });
            each(node[kStepDD], [&](auto g, Words dd) { d[g] = add(d[g], dd); });
            each(node[kStepMD], [&](auto g, Words md) { d[g] = vmax(d[g], add(m[g], md)); });
        }
        each([&](auto g) {
            // Once 16 bits are exceeded, the value stays: no other score is as high.
            const Words highest = every_word(kViterbiHighest);
            const Words less = subs<int16_t, kVectorBytes>(xE[g], every_word(kViterbiEnd));
            store<int16_t, kVectorBytes>(xC_ + g * kWordLanes, vmax(at(xC_, g), xE[g] == highest ? highest : less));
        });
    }

    /// Call `what` for each group. Its number is a constant, as GCC 12 keeps no array in registers that is indexed
    /// in a loop.
    template <class Do>
    [[gnu::always_inline]] static void each(Do what) {
        what(std::integral_constant<int, 0>{});
        if constexpr (groups == 2) what(std::integral_constant<int, 1>{});
    }
    template <class Do>
    [[gnu::always_inline]] static void each(const ViterbiLaneTables::Twice &step, Do what) {
        const Words score = every_word(step);
        each([&](auto g) { what(g, score); });
    }

    [[gnu::always_inline]] static Words at(const int16_t *words, int g) {
        return load<int16_t, kVectorBytes>(words + g * kWordLanes);
    }
    [[gnu::always_inline]] static Words cleared(Words v, Words lanes) {
        return (v & ~lanes) | (every_word(kViterbiLowest) & lanes);
    }

    const ViterbiLaneTables &tables_;
    Words *const state_;  ///< [M][groups]: I(k), E(k + 1)
    TargetSlots<ViterbiTarget, kSlots> slots_;
    alignas(64) typename Row::Code codes_[kRows][kSlots] = {};
    alignas(64) int16_t xC_[kSlots] = {}, move_[kSlots] = {}, is_new_[kSlots];
};

}  // namespace tropalign::TROPALIGN_ISA

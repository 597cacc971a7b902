// Targets that are computed in parallel, each in a slot: when one ends, the next one starts.
//
//     slot 0    | target 0          | target 4     | target 5 ...
//     slot 1    | target 1   | target 3       |
//     slot 2    | target 2             | (none)
//                            ^ rows up to the end of the first target are swept in one go
#pragma once
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <span>

#include "../simd/vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// `Target` has codes and length.
template <class Target, int n_slots>
class TargetSlots {
  public:
    struct Slot {
        const uint8_t *codes = nullptr;  ///< Residues from the present row on.
        int32_t left = 0;                ///< Residues.
        Target *target = nullptr;
    };

    explicit TargetSlots(std::span<Target> targets) : next_(targets.data()), last_(next_ + targets.size()) {}

    const Slot &operator[](int s) const { return slots_[static_cast<size_t>(s)]; }

    /// Call end(slot, target) if a target has ended, begin(slot, target) if one starts, and leave(slot) if no
    /// target is left. Returns true if any slot has a target.
    template <class End, class Begin, class Leave>
    bool refill(End end, Begin begin, Leave leave) {
        bool any = false;
        for (int s = 0; s < n_slots; ++s) {
            Slot &slot = slots_[static_cast<size_t>(s)];
            if (slot.left == 0) {
                if (slot.target) end(s, *slot.target);
                slot.target = next_ < last_ ? next_++ : nullptr;
                if (slot.target) {
                    slot.codes = slot.target->codes, slot.left = slot.target->length;
                    begin(s, *slot.target);
                } else {
                    leave(s);
                }
            }
            any |= slot.target != nullptr;
        }
        return any;
    }

    /// Return the rows that all targets have left, up to `most`.
    int32_t common_rows(int32_t most = INT_MAX) const {
        for (const Slot &slot : slots_)
            if (slot.target) most = std::min(most, slot.left);
        return most;
    }

    void advance(int32_t rows) {
        for (Slot &slot : slots_)
            if (slot.target) slot.codes += rows, slot.left -= rows;
    }

  private:
    std::array<Slot, n_slots> slots_{};
    Target *next_, *const last_;
};

}  // namespace tropalign::TROPALIGN_ISA

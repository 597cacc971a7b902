// A survey of a matrix's numbers (product.hpp), one vector at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "product.hpp"
#include "product_block.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, Order order>
class SurveyLanes {
    using V = Vec<T, kVectorBytes>;
    using Mask = Vec<IndexOf<T>, kVectorBytes>;
    using Limits = std::numeric_limits<T>;

  public:
    static constexpr int64_t count = kVectorBytes / static_cast<int64_t>(sizeof(T));

    void take(const T *numbers) {
        const V x = load<T, kVectorBytes>(numbers);
        const Mask is_worst = x == spread<V>(worst_number<T>(order));
        any_worst_ |= is_worst;
        // A NaN is never taken, because it is the first argument (real.hpp).
        lowest_ = better<Order::lowest, T>(is_worst ? spread<V>(Limits::max()) : x, lowest_);
        highest_ = better<Order::highest, T>(is_worst ? spread<V>(Limits::lowest()) : x, highest_);
        if constexpr (std::is_floating_point_v<T>) any_bad_ |= ~is_known(x);
    }

    /// Merge the lanes into `found`. True if there is a NaN, or an infinity that the semiring does not have.
    bool into(Survey<T> &found) const {
        bool any_bad = false;
        for (int64_t l = 0; l < count; ++l) {
            found.lowest = std::min<T>(found.lowest, lowest_[l]),
            found.highest = std::max<T>(found.highest, highest_[l]);
            found.any_worst |= any_worst_[l] != 0;
            any_bad |= any_bad_[l] != 0;
        }
        return any_bad;
    }

  private:
    /// Return the lanes that are neither NaN nor an infinity that is better than any number.
    static Mask is_known(V x) {
        if constexpr (is_highest<order>()) return x <= spread<V>(Limits::max());
        else return x >= spread<V>(Limits::lowest());
    }

    V lowest_ = spread<V>(Limits::max()), highest_ = spread<V>(Limits::lowest());
    Mask any_worst_{}, any_bad_{};
};

template <Order order, class T>
Survey<T> survey_of(const T *numbers, int64_t n) {
    using Lanes = SurveyLanes<T, order>;
    Survey<T> found;
    Lanes even, odd;  // two, so that the next vector need not wait for this one
    int64_t k = 0;
    for (; k + 2 * Lanes::count <= n; k += 2 * Lanes::count)
        even.take(numbers + k), odd.take(numbers + k + Lanes::count);
    for (; k < n; k += Lanes::count) {
        T rest[Lanes::count];
        std::fill_n(rest, Lanes::count, numbers[n - 1]);
        std::copy_n(numbers + k, std::min(Lanes::count, n - k), rest);
        even.take(rest);
    }
    const bool any_bad = int{even.into(found)} | int{odd.into(found)};
    found.any_finite = found.lowest <= found.highest;
    if constexpr (std::is_floating_point_v<T>)
        if (any_bad) {
            const T worst = worst_number<T>(order);
            found.first_bad = std::find_if(numbers, numbers + n,
                                           [&](T x) { return std::isnan(x) || (std::isinf(x) && x != worst); }) -
                              numbers;
        }
    return found;
}

template <class T>
void survey_numbers(Order order, const T *numbers, int64_t n, Survey<T> *found) {
    *found = with_order(order, [&]<Order o>() { return survey_of<o>(numbers, n); });
}

}  // namespace tropalign::TROPALIGN_ISA

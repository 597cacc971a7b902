// Arguments that are matrices of any of the four number types of semirings.
#pragma once
#include <string>

#include "../tropical/product.hpp"
#include "check.hpp"

namespace tropalign {

inline Order order_of(bool is_max) { return is_max ? Order::highest : Order::lowest; }

template <size_t n>
using AnyArray = nb::ndarray<nb::ro, nb::ndim<n>, nb::c_contig, nb::device::cpu>;

/// Call work(T{}) with the type of the array's numbers.
template <class Array, class Work>
auto with_type_of(const Array &array, const char *name, Work work) {
    if (array.dtype() == nb::dtype<float>()) return work(float{});
    if (array.dtype() == nb::dtype<double>()) return work(double{});
    if (array.dtype() == nb::dtype<int32_t>()) return work(int32_t{});
    if (array.dtype() == nb::dtype<int16_t>()) return work(int16_t{});
    throw nb::type_error((std::string(name) + ": must be float32, float64, int32 or int16").c_str());
}

/// Return the numbers of an array that must have the type T.
template <class T, class Array>
const T *numbers_of(const Array &array, const char *name) {
    if (array.dtype() != nb::dtype<T>()) throw nb::type_error((std::string(name) + ": wrong type").c_str());
    return static_cast<const T *>(array.data());
}

}  // namespace tropalign

#include "product.hpp"

#define TROPALIGN_TABLE_TYPE ProductTables
#define TROPALIGN_TABLE product_tables
#define TROPALIGN_SELECTED selected_product_tables
#include "../compute/dispatch.hpp"

namespace tropalign {

template <>
const ProductKernels<float> &product_kernels() {
    return selected_product_tables()->of_float;
}
template <>
const ProductKernels<double> &product_kernels() {
    return selected_product_tables()->of_double;
}
template <>
const ProductKernels<int32_t> &product_kernels() {
    return selected_product_tables()->of_int32;
}
template <>
const ProductKernels<int16_t> &product_kernels() {
    return selected_product_tables()->of_int16;
}

}  // namespace tropalign

#include "joining_kernels.hpp"

#define TROPALIGN_TABLE_TYPE JoiningKernels<float>
#define TROPALIGN_TABLE float_joining_kernels
#define TROPALIGN_SELECTED selected_float_joining
#include "../compute/dispatch.hpp"

#define TROPALIGN_TABLE_TYPE JoiningKernels<double>
#define TROPALIGN_TABLE double_joining_kernels
#define TROPALIGN_SELECTED selected_double_joining
#include "../compute/dispatch.hpp"

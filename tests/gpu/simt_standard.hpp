// What simt_host.hpp needs of others, read once and for all by the compiler (host_device.py): half the time of a
// kernel.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

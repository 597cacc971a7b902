// What tells long work to go on.
#pragma once
#include <cstdint>
#include <functional>

namespace tropalign {

/// Called now and then with the number of items begun; false stops the work.
using Poll = std::function<bool(int64_t)>;

}  // namespace tropalign

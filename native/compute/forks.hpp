// Locks that no other thread holds while the process forks, so that the child, which has the forking thread alone,
// finds them free, and what they guard whole.
#pragma once
#include <mutex>

namespace tropalign {

/// The lock of the memory that is kept for the next tile.
extern std::mutex kept_memory_lock;
/// Held while a thread is started: glibc frees what an earlier thread left in the stack that it takes, and forgets that
/// only then. The child of a fork in between would free it once more.
extern std::mutex thread_start_lock;

}  // namespace tropalign

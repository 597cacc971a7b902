// Locks that no other thread holds while the process forks, so that the child, which has only the forking thread,
// finds them free and the data that they guard consistent.
#pragma once
#include <mutex>

namespace tropalign {

/// Guards the memory that is kept for the next tile.
extern std::mutex kept_memory_lock;
/// Held while a thread is started: glibc frees what an earlier thread left in the stack that it reuses, and only
/// then clears the pointer. The child of a fork in between would free it twice.
extern std::mutex thread_start_lock;

}  // namespace tropalign

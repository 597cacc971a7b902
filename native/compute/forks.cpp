#include "forks.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace tropalign {

std::mutex kept_memory_lock, thread_start_lock;

#if defined(__unix__) || defined(__APPLE__)
namespace {

void let_go() { kept_memory_lock.unlock(), thread_start_lock.unlock(); }

[[maybe_unused]] const int when_forking =
    pthread_atfork([] { std::lock(kept_memory_lock, thread_start_lock); }, let_go, let_go);

}  // namespace
#endif

}  // namespace tropalign

// A library to preload: no more than FAIL_THREADS_AFTER threads start, as where a limit on processes is reached.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                              void *argument) {
    using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    static std::atomic<int> started{0};
    const char *most = std::getenv("FAIL_THREADS_AFTER");
    if (most && started++ >= std::atoi(most)) return EAGAIN;
    return create(thread, attributes, body, argument);
}

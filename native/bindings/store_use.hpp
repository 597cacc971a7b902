// Locks of a store of posteriors: several readers, or one that changes it. A call that finds it locked is refused
// and does not wait, because it holds the interpreter's lock.
#pragma once
#include <mutex>

#include "../msa/store.hpp"
#include "check.hpp"

namespace tropalign {

class ReadsStore {
  public:
    explicit ReadsStore(const PosteriorStore &store) : lock_(store.mutex(), std::try_to_lock) {
        require(lock_.owns_lock(), "store: another call is changing it");
    }

  private:
    std::shared_lock<std::shared_mutex> lock_;
};

class ChangesStore {
  public:
    explicit ChangesStore(const PosteriorStore &store) : lock_(store.mutex(), std::try_to_lock) {
        require(lock_.owns_lock(), "store: another call is using it");
    }

  private:
    std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace tropalign

// A model with the layouts of its tables that the stages of a search need. Each layout is made once, on first use.
//
// A stage adds three lines here and defines its accessor in its own file:
//
//     struct SsvTables;                      // above the class
//     const SsvTables &ssv() const;          // ssv.cpp: return ssv_.get([&] { return make(plain_); });
//     OnFirstUse<SsvTables> ssv_;
#pragma once
#include <memory>
#include <mutex>
#include <utility>

#include "model.hpp"

namespace tropalign {

/// A value made by the first thread that needs it, while other threads wait. The type may be incomplete when a member
/// is declared.
template <class T>
class OnFirstUse {
  public:
    template <class Make>
    const T &get(const Make &make) const {
        std::call_once(made_, [&] { value_ = std::make_shared<const T>(make()); });
        return *value_;
    }

  private:
    mutable std::once_flag made_;
    mutable std::shared_ptr<const T> value_;
};

struct FloatTables;
struct TraceTables;
struct SsvTables;
struct MsvTables;
struct PathMasks;
class ViterbiTables;

class SearchModel {
  public:
    explicit SearchModel(ProfileModel plain) : plain_(std::move(plain)) {}
    SearchModel(const SearchModel &) = delete;
    SearchModel &operator=(const SearchModel &) = delete;

    const ProfileModel &plain() const { return plain_; }
    const FloatTables &floats() const;
    const TraceTables &traces() const;
    const SsvTables &ssv() const;
    const MsvTables &msv() const;
    const PathMasks &path_masks() const;
    const ViterbiTables &viterbi() const;

  private:
    ProfileModel plain_;
    OnFirstUse<FloatTables> floats_;
    OnFirstUse<TraceTables> traces_;
    OnFirstUse<SsvTables> ssv_;
    OnFirstUse<MsvTables> msv_;
    OnFirstUse<PathMasks> path_masks_;
    OnFirstUse<ViterbiTables> viterbi_;
};

}  // namespace tropalign

#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"

namespace fieldcost::ingest {

// The host names under which agents address this service: requests signed for another host are
// refused. Thread-safe.
class ServiceNames {
 public:
  // Lower-case host names and addresses; "*.example.org" matches one additional label.
  explicit ServiceNames(std::vector<std::string> names) : names_(std::move(names)) {}

  void Set(std::vector<std::string> names);
  bool Has(std::string_view untrusted_name) const;

 private:
  mutable SharedMutex mutex_;
  std::vector<std::string> names_ FIELDCOST_GUARDED_BY(mutex_);
};

// The fingerprints of the roots that agents of this service may have pinned
// (wire::RootFingerprint()). They distinguish it from other services of the same host name.
// Thread-safe.
class ServiceRoots {
 public:
  explicit ServiceRoots(std::vector<std::string> fingerprints)
      : fingerprints_(fingerprints.begin(), fingerprints.end()) {}

  // Keeps those already known: an agent may have pinned a root long ago.
  void Add(const std::vector<std::string>& fingerprints);
  bool Has(std::string_view untrusted_fingerprint) const;

 private:
  mutable SharedMutex mutex_;
  std::set<std::string, std::less<>> fingerprints_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::ingest

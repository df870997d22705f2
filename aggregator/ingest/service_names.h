#pragma once

#include <functional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::ingest {

// The host names under which agents know this service: requests that are signed for another one
// are refused. Thread-safe.
class ServiceNames {
 public:
  // Lower-case host names and addresses; "*.example.org" stands for one label more.
  explicit ServiceNames(std::vector<std::string> names) : names_(std::move(names)) {}

  void Set(std::vector<std::string> names);
  bool Has(std::string_view untrusted_name) const;

 private:
  mutable std::shared_mutex mutex_;
  std::vector<std::string> names_;
};

// The fingerprints of the roots that agents of this service have pinned (wire::RootFingerprint()):
// what tells it from other services of its host name. Thread-safe.
class ServiceRoots {
 public:
  explicit ServiceRoots(std::vector<std::string> fingerprints)
      : fingerprints_(fingerprints.begin(), fingerprints.end()) {}

  // Those that are known already remain: an agent may have pinned a root long ago.
  void Add(const std::vector<std::string>& fingerprints);
  bool Has(std::string_view untrusted_fingerprint) const;

 private:
  mutable std::shared_mutex mutex_;
  std::set<std::string, std::less<>> fingerprints_;
};

}  // namespace fieldcost::ingest

#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::ingest {

// The names under which agents know this service: requests that are signed for another one are
// refused. Thread-safe.
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

}  // namespace fieldcost::ingest

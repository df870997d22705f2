#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "tools/analysis/lab_cost.h"

namespace fieldcost::report {

// Names of a lab table's libraries: the soname; if a merged table has several builds of a library,
// followed by what distinguishes them, the package's version or else the build-id.
class LibraryNames {
 public:
  explicit LibraryNames(std::span<const analysis::LabCost> costs);
  // "libx.so.1", "libx.so.1 1.2-3", "libx.so.1 build 00ff12ab"; not escaped.
  std::string Of(const stats::ApiKey& untrusted_api) const;

 private:
  using Builds = std::set<std::pair<std::string, std::string>>;  // version, build-id
  std::map<std::string, Builds> builds_;                         // by soname
};

}  // namespace fieldcost::report

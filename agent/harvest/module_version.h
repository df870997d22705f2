#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/state_db.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::agent {

// Which Debian package a library is of; both empty if it is of none, or that is not known.
struct ModuleOwner {
  std::string package;  // "zlib1g", without architecture
  std::string version;  // "1:1.2.13.dfsg-1"
  bool operator==(const ModuleOwner&) const = default;
};

// Which version of which Debian package a measured library was. Asks dpkg-query and caches answers
// in the state database by path, inode and change time, so that an upgrade asks anew. The path
// never leaves the machine; the version does.
class ModuleVersions {
 public:
  explicit ModuleVersions(StateDb& database) : database_(&database) {}

  // Nothing if the file is in no installed package, is not there, is not the module that
  // `api.soname` names, there is no package database, or the file's build-id is not the run's
  // (`api.build_id`), as after an upgrade under a running program: what has been measured then was
  // another file. The path comes from a run file.
  Result<ModuleOwner> Find(const stats::ApiKey& api, const std::string& untrusted_path);

 private:
  StateDb* database_;
};

// The names under which the package database may know a file: as given, resolved, and each with
// and without a leading /usr (merged /usr). Empty if the path is not absolute or has characters
// that dpkg-query takes for patterns.
std::vector<std::string> PackagePaths(const std::string& untrusted_path);

}  // namespace fieldcost::agent

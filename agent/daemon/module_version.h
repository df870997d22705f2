#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/daemon/state_db.h"
#include "common/base/result.h"

namespace fieldcost::daemon {

// Which version of which Debian package a shared library on this machine is. Asks dpkg-query and
// caches answers in the state database by path, inode and modification time, so that an upgrade
// asks anew. The path never leaves the machine; the version does.
class ModuleVersions {
 public:
  explicit ModuleVersions(StateDb& database) : database_(&database) {}

  // "3.40.1-2+deb12u1"; empty if the file is in no package, is not there, is not the module that
  // `soname` names, or there is no package database. The path comes from a run file.
  Result<std::string> Find(std::string_view soname, const std::string& untrusted_path);

 private:
  StateDb* database_;
};

// The names under which the package database may know a file: as given, resolved, and each with
// and without a leading /usr (merged /usr). Empty if the path is not absolute or has characters
// that dpkg-query takes for patterns.
std::vector<std::string> PackagePaths(const std::string& untrusted_path);

}  // namespace fieldcost::daemon

#pragma once

#include <string>
#include <utility>

#include "agent/spool/state_db.h"
#include "common/base/package_owner.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::harvest {

// Finds the package and version of a measured library. Queries the package managers and caches
// their responses in the state database by path, inode and change time, so an upgrade causes a new
// query. The path never leaves the machine; the version does.
class ModuleVersions {
 public:
  explicit ModuleVersions(spool::StateDb& database, PackageManagers managers = {})
      : database_(&database), managers_(std::move(managers)) {}

  // Returns an empty owner if there is no package database, if the file is missing or belongs to no
  // installed package, if it is not the module that `api.soname` names, or if its build-id is not
  // the run's (`api.build_id`): after an upgrade under a running program, the measured file was a
  // different one. The path comes from a run file.
  Result<PackageOwner> Find(const stats::ApiKey& api, const std::string& untrusted_path);

 private:
  spool::StateDb* database_;
  PackageManagers managers_;
};

}  // namespace fieldcost::harvest

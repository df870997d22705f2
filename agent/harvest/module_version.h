#pragma once

#include <string>
#include <utility>

#include "agent/spool/state_db.h"
#include "common/base/package_owner.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::agent {

// The package and version of a measured library. Queries the package managers and caches their
// answers in the state database by path, inode and change time, so that an upgrade causes a new
// query. The path never leaves the machine; the version does.
class ModuleVersions {
 public:
  explicit ModuleVersions(StateDb& database, PackageManagers managers = {})
      : database_(&database), managers_(std::move(managers)) {}

  // Nothing if the file is in no installed package, is not there, is not the module that
  // `api.soname` names, there is no package database, or the file's build-id is not the run's
  // (`api.build_id`), as after an upgrade under a running program: what has been measured then was
  // another file. The path comes from a run file.
  Result<PackageOwner> Find(const stats::ApiKey& api, const std::string& untrusted_path);

 private:
  StateDb* database_;
  PackageManagers managers_;
};

}  // namespace fieldcost::agent

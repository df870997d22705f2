#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/base/package_owner.h"

namespace fieldcost::testing {

// A machine with rpm: a shell script that replaces rpm, and a database. Uses the machine's dpkg.
inline PackageManagers FakeRpm(const std::filesystem::path& directory, const std::string& script) {
  constexpr int kProgramMode = 0755;
  PackageManagers managers;
  managers.rpm = directory / "rpm";
  managers.rpm_databases = {directory / "none", directory / "rpmdb.sqlite"};
  EXPECT_TRUE(WriteFileAtomically(managers.rpm, "#!/bin/sh\n" + script + "\n", kProgramMode));
  EXPECT_TRUE(WriteFileAtomically(managers.rpm_databases[1], "", kProgramMode));
  return managers;
}

}  // namespace fieldcost::testing

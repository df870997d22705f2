#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace fieldcost::testing {

struct DemoCatalogOptions {
  std::uint32_t agents = 60;
  std::uint64_t seed = 1;
};

// A user's home with a synced catalogue of the synthetic fleet: runs `fieldcost-aggregator demo`,
// serves it with TLS on loopback, runs `fieldcost sync --full`, and ends the server. Takes a few
// seconds, so the tests of a program share one. The test's target must depend on fieldcost and
// fieldcost-aggregator.
class DemoCatalog {
 public:
  // Uses `directory`, which must exist and is not removed.
  explicit DemoCatalog(std::filesystem::path directory, DemoCatalogOptions options = {});

  // The error; empty if none. Assert this first.
  const std::string& error() const { return error_; }

  // FIELDCOST_HOME for programs that read the catalogue.
  std::filesystem::path home() const { return directory_ / "home"; }
  // The profile of another machine, for `fieldcost check`.
  std::filesystem::path profile() const { return directory_ / "profile"; }
  // The planted findings: aggregator/demo/README.md.
  std::filesystem::path planted() const { return directory_ / "data" / "planted.json"; }

  // Runs the program `fieldcost` with these arguments in that home.
  ProcessResult Fieldcost(std::vector<std::string> arguments) const;

 private:
  std::string Make(const DemoCatalogOptions& options) const;

  std::filesystem::path directory_;
  std::string error_;
};

}  // namespace fieldcost::testing

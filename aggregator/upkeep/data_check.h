#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/publish/file_check.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Reads all files of the data directory but the store's: what clients get, the signing keys, and
// the secrets, which it compares with the fingerprints that the store remembers. Changes nothing.
// Errors and conditions: see publish::CheckFiles().
Result<publish::FileReport> CheckFilesBesideStore(
    const std::filesystem::path& data_dir, const std::map<std::string, std::string>& bindings);

// What was found in the store and beside it.
struct DataReport {
  store::VerifyReport store;
  publish::FileReport files;

  bool ok() const { return store.ok() && files.damaged.empty(); }
  // The first one's description; empty if there is none.
  std::string FirstProblem() const;
  // What was counted, named as the commands show it.
  std::vector<std::pair<std::string_view, std::uint64_t>> Numbers() const;
};

}  // namespace fieldcost::aggregator

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

// Reads all files of the data directory except the store's: those that clients fetch, the signing
// keys, and the secrets, which it compares with the fingerprints stored in the store. Changes
// nothing. Errors and conditions: see publish::CheckFiles().
Result<publish::FileReport> CheckFilesBesideStore(
    const std::filesystem::path& data_dir, const std::map<std::string, std::string>& bindings);

// The findings in the store and in the files next to it.
struct DataReport {
  store::VerifyReport store;
  publish::FileReport files;

  bool ok() const { return store.ok() && files.damaged.empty(); }
  // The description of the first problem; empty if there is none.
  std::string FirstProblem() const;
  // The report's numbers, with the names that commands display.
  std::vector<std::pair<std::string_view, std::uint64_t>> Numbers() const;
};

}  // namespace fieldcost::aggregator

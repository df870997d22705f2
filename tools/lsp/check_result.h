#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::lsp {

// The APIs that the last `fieldcost check` found to be worse than the field, from STATE/check.json
// (described in tools/cli/JSON.md).
struct FlaggedApi {
  std::string soname;
  std::string symbol;
  std::string version;
  std::string metric;
  double ratio = 0;  // of geometric means
  double cliffs_delta = 0;
  double q = 0;
};

struct CheckResult {
  std::string checked;  // "2026-11-21 15:00 UTC"
  bool synthetic = false;
  bool is_file = false;  // a saved profile was checked, possibly another machine's
  std::map<std::string, FlaggedApi, std::less<>> flagged;  // by symbol; with the worst ratio
};

// kCorrupt if this is not such a document, kUnsupported if its format is newer.
Result<CheckResult> ParseCheckResult(std::string_view untrusted_json);

// The current contents of the file, which is read again whenever it has changed. Without a file, no
// API is flagged. Not thread-safe.
class CheckBook {
 public:
  explicit CheckBook(std::filesystem::path file) : file_(std::move(file)) {}
  // True if the file has changed since the last call.
  bool Refresh();
  const CheckResult& result() const { return result_; }

 private:
  std::filesystem::path file_;
  bool read_ = false;
  std::filesystem::file_time_type modified_{};
  std::uintmax_t size_ = 0;
  CheckResult result_;
};

// "sqlite3_step took 3.1 times as long here as in the field ..."
std::string FlaggedText(const FlaggedApi& api, const CheckResult& result);

}  // namespace fieldcost::lsp

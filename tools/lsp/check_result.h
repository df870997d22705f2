#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::lsp {

// What the last `fieldcost check` found worse than the field, from STATE/check.json
// (tools/cli/JSON.md describes it).
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
  bool is_file = false;  // of a saved profile, perhaps another machine's
  std::map<std::string, FlaggedApi, std::less<>> flagged;  // by symbol: that with the worst ratio
};

// kCorrupt if it is no such document, kUnsupported if of a later format.
Result<CheckResult> ParseCheckResult(std::string_view untrusted_json);

// The file as it is now: reads it again when it has changed. Nothing flagged while there is none.
// Not thread-safe.
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

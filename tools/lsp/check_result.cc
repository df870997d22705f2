#include "tools/lsp/check_result.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/lsp/json_access.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/source_name.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::lsp {
namespace {

constexpr std::uint64_t kFormatVersion = 1;

std::string MemberText(const boost::json::value& api, std::string_view name) {
  return std::string(Text(Member(&api, name)).value_or(""));
}

double RealOf(const boost::json::value& api, std::string_view name) {
  const boost::json::value* value = Member(&api, name);
  if (value == nullptr || !value->is_number()) return 0;
  const double number = value->to_number<double>();
  return std::isfinite(number) ? number : 0;
}

}  // namespace

Result<CheckResult> ParseCheckResult(std::string_view untrusted_json) {
  const std::optional<boost::json::value> document = ParseJson(untrusted_json);
  const boost::json::value* list = document ? Member(&*document, "apis") : nullptr;
  const auto version = document ? Number(Member(&*document, "format_version")) : std::nullopt;
  if (list == nullptr || !list->is_array() || !version) {
    return Fail(ErrorCode::kCorrupt, "not the result of a check");
  }
  if (*version != kFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "result of a check in format {}; this program reads {}",
                *version, kFormatVersion);
  }
  CheckResult result;
  result.checked = MemberText(*document, "checked");
  result.synthetic = IsTrue(Member(&*document, "freshness", "synthetic"));
  result.is_file = MemberText(*document, "profile") == "file";
  const std::string metric = MemberText(*document, "metric");
  for (const boost::json::value& api : list->get_array()) {
    if (Text(Member(&api, "verdict")) != "more") continue;
    FlaggedApi flagged{.soname = MemberText(api, "library"),
                       .symbol = MemberText(api, "symbol"),
                       .version = MemberText(api, "version"),
                       .metric = metric,
                       .ratio = RealOf(api, "ratio"),
                       .cliffs_delta = RealOf(api, "cliffs_delta"),
                       .q = RealOf(api, "q")};
    if (flagged.symbol.empty()) continue;
    FlaggedApi& kept = result.flagged[flagged.symbol];
    if (kept.symbol.empty() || kept.ratio < flagged.ratio) kept = std::move(flagged);
  }
  return result;
}

bool CheckBook::Refresh() {
  std::error_code error;
  const auto modified = std::filesystem::last_write_time(file_, error);
  const std::uintmax_t size = error ? 0 : std::filesystem::file_size(file_, error);
  const bool absent = static_cast<bool>(error);
  const auto seen = absent ? std::filesystem::file_time_type{} : modified;
  if (read_ && seen == modified_ && (absent ? 0 : size) == size_) return false;
  read_ = true;
  modified_ = seen;
  size_ = absent ? 0 : size;
  result_ = {};
  if (absent) return true;
  const Result<std::string> text = ReadFile(file_, kMaxCheckBytes);
  if (!text) return true;
  if (Result<CheckResult> result = ParseCheckResult(*text)) result_ = *std::move(result);
  return true;
}

std::string FlaggedText(const FlaggedApi& api, const CheckResult& result) {
  const std::string version = api.version.empty() ? "" : " " + api.version;
  const std::optional<CxxName> cxx = ParseCxxName(api.symbol);
  return fmt::format(
      "{} ({}{}) is worse {} than in the field: {} {:.2g} times as high (Cliff's delta {:.2f}, "
      "q {:.2g}), according to `fieldcost check` of {}{}",
      EscapeControl(cxx ? cxx->text : api.symbol), EscapeControl(api.soname),
      EscapeControl(version), result.is_file ? "in a saved profile" : "here",
      EscapeControl(api.metric), api.ratio, api.cliffs_delta, api.q, EscapeControl(result.checked),
      result.synthetic ? fmt::format("; {}", report::kSyntheticWords) : "");
}

}  // namespace fieldcost::lsp

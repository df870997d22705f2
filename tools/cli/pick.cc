#include "tools/cli/pick.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/text.h"
#include "common/shm/policy_file.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxPickBytes = shm::kMaxPickBytes - 1;  // more is measured by nobody
constexpr std::array<std::string_view, 4> kMetricWords = {"time", "alloc", "io", "cycles"};

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Status CheckPick(std::string_view text) {
  if (text.size() > kMaxPickBytes) {
    return Fail(ErrorCode::kInvalidArgument, "pick is longer than {} bytes", kMaxPickBytes);
  }
  for (const std::string_view glob : Split(text, ",")) {
    const bool printable =
        std::all_of(glob.begin(), glob.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    const std::size_t mark = glob.find('!');
    if (!printable || mark == 0 || mark == std::string_view::npos || mark + 1 == glob.size() ||
        glob.find('!', mark + 1) != std::string_view::npos) {
      return Fail(ErrorCode::kInvalidArgument,
                  "pick '{}' is not of the form soname!symbol, e.g. 'libz.so.1!deflate*'",
                  EscapeControl(glob));
    }
  }
  return {};
}

Result<std::string> NormalizeMetrics(std::string_view text) {
  std::array<bool, kMetricWords.size()> chosen{};
  for (const std::string_view name : Split(text, ",")) {
    const auto found = std::find(kMetricWords.begin(), kMetricWords.end(), name);
    if (found == kMetricWords.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "unknown metric '{}': known are time, alloc, io and cycles, comma-separated",
                  EscapeControl(name));
    }
    chosen[static_cast<std::size_t>(found - kMetricWords.begin())] = true;
  }
  std::string metrics;
  for (std::size_t i = 0; i < kMetricWords.size(); ++i) {
    if (chosen[i]) metrics += fmt::format("{}{}", metrics.empty() ? "" : ",", kMetricWords[i]);
  }
  return metrics;
}

std::string PreloadVariable(std::string_view library, std::string_view present) {
  std::string value(library);
  const std::string_view name = library.substr(library.rfind('/') + 1);
  for (const std::string_view other : Split(present, ": ")) {
    if (!other.empty() && other.substr(other.rfind('/') + 1) != name)
      value += fmt::format(":{}", other);
  }
  return value;
}

}  // namespace fieldcost::cli

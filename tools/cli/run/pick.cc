#include "tools/cli/run/pick.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxPickBytes = shm::kMaxPickBytes - 1;  // the library reads no longer ones
constexpr std::array<std::string_view, 4> kMetricWords = {"time", "alloc", "io", "cycles"};

Error NoPick(std::string_view name, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "'{}' {}", EscapeControl(name), why);
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsDigit(text[0]) && AreAll(text, IsWordCharacter);
}

bool IsInSymbolGlob(char c) {
  return IsWordCharacter(c) || c == '*' || c == '?' || c == '$' || c == '.';
}

// The symbol globs for "a::B::f".
Result<std::vector<std::string>> SymbolGlobs(std::string_view whole, std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t end = name.find("::"); end != std::string_view::npos; end = name.find("::")) {
    parts.push_back(name.substr(0, end));
    name.remove_prefix(end + 2);
  }
  std::string scopes;
  for (const std::string_view part : parts) {
    if (!IsIdentifier(part)) return NoPick(whole, "is not a C++ name such as a::B::f or a::B::*");
    if (part == "std") {
      return NoPick(whole,
                    "is in std, which is abbreviated in symbols: use its symbol (nm -D FILE)");
    }
    scopes += fmt::format("{}{}", part.size(), part);
  }
  if (name == "*") return std::vector{"_ZN" + scopes + "*", "_ZNK" + scopes + "*"};
  if (name == parts.back()) return std::vector{"_ZN*" + scopes + "C?*"};  // constructors
  if (name.starts_with('~') && name.substr(1) == parts.back()) {
    return std::vector{"_ZN*" + scopes + "D?*"};
  }
  if (!IsIdentifier(name) || name == "operator") {
    return NoPick(whole, "is not a C++ name such as a::B::f or a::B::*, without arguments");
  }
  // The symbol ends here, or continues with template arguments or an ABI tag.
  std::vector<std::string> globs;
  for (const char* end : {"E*", "I*", "B*"}) {
    globs.push_back(fmt::format("_ZN*{}{}{}{}", scopes, name.size(), name, end));
  }
  return globs;
}

}  // namespace

Result<std::string> PickGlobs(std::string_view name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
  const std::size_t mark = name.find('!');
  const bool has_library = mark != std::string_view::npos;
  const std::string_view function = has_library ? name.substr(mark + 1) : name;
  const bool is_cxx = function.find("::") != std::string_view::npos;
  if (!printable || mark == 0 || function.empty() || function.find('!') != std::string_view::npos) {
    return NoPick(name,
                  "is neither a function nor of the form soname!symbol, e.g. deflate or "
                  "'libz.so.1!deflate*'");
  }
  if (!has_library && name.find(".so") != std::string_view::npos) {
    return NoPick(name, fmt::format("is a library; all its functions are '{}!*'", name));
  }
  if (!has_library && !is_cxx && !AreAll(name, IsInSymbolGlob)) {
    return NoPick(name, "is not the name of a function, such as deflate or a::B::f");
  }
  if (!is_cxx) return has_library ? std::string(name) : fmt::format("*!{}", name);
  FIELDCOST_ASSIGN(const std::vector<std::string> globs, SymbolGlobs(name, function));
  std::string list;
  for (const std::string& glob : globs) {
    list += fmt::format("{}{}!{}", list.empty() ? "" : ",",
                        has_library ? name.substr(0, mark) : "*", glob);
  }
  return list;
}

Result<std::string> ResolvePick(std::string_view text) {
  std::string list;
  for (const std::string_view name : Split(text, ",")) {
    FIELDCOST_ASSIGN(const std::string globs, PickGlobs(name));
    list += fmt::format("{}{}", list.empty() ? "" : ",", globs);
  }
  if (list.size() > kMaxPickBytes) {
    return Fail(ErrorCode::kInvalidArgument, "pick is longer than {} bytes", kMaxPickBytes);
  }
  return list;
}

Result<std::string> NormalizeMetrics(std::string_view text) {
  std::array<bool, kMetricWords.size()> chosen{};
  for (const std::string_view name : Split(text, ",")) {
    const auto found = std::find(kMetricWords.begin(), kMetricWords.end(), name);
    if (found == kMetricWords.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "unknown metric '{}'; expected time, alloc, io or cycles, comma-separated",
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

}  // namespace fieldcost::cli

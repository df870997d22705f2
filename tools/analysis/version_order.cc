#include "tools/analysis/version_order.h"

#include <utility>

#include "common/base/ascii.h"

namespace fieldcost::analysis {
namespace {

// The sort order of a non-digit character; digits and the end of a text are 0.
int Order(std::string_view text, std::size_t at) {
  if (at >= text.size() || IsDigit(text[at])) return 0;
  const char c = text[at];
  if (c == '~') return -1;
  const int value = static_cast<unsigned char>(c);
  return IsLetter(c) ? value : value + 256;
}

// The digits at `at` without leading zeros; advances `at` past them.
std::string_view TakeNumber(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

std::weak_ordering CompareNumbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::weak_ordering CompareParts(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    while ((i < a.size() && !IsDigit(a[i])) || (j < b.size() && !IsDigit(b[j]))) {
      const auto order = Order(a, i) <=> Order(b, j);
      if (order != 0) return order;
      ++i;
      ++j;
    }
    const std::string_view left = TakeNumber(a, i);
    const std::string_view right = TakeNumber(b, j);
    const auto order = CompareNumbers(left, right);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

struct Parts {
  std::string_view epoch;
  std::string_view upstream;
  std::string_view revision;
};

Parts SplitVersion(std::string_view version) {
  Parts parts{.epoch = "", .upstream = version, .revision = ""};
  const std::size_t colon = version.find(':');
  if (colon != std::string_view::npos) {
    parts.epoch = version.substr(0, colon);
    parts.upstream = version.substr(colon + 1);
  }
  const std::size_t dash = parts.upstream.rfind('-');
  if (dash != std::string_view::npos) {
    parts.revision = parts.upstream.substr(dash + 1);
    parts.upstream = parts.upstream.substr(0, dash);
  }
  return parts;
}

}  // namespace

std::string VersionOf(const stats::ApiKey& api) {
  if (!api.package_version.empty()) return api.package_version;
  return api.build_id.empty() ? "unknown" : "build-id " + api.build_id;
}

std::weak_ordering CompareVersions(std::string_view a, std::string_view b) {
  const Parts left = SplitVersion(a);
  const Parts right = SplitVersion(b);
  for (const auto& [x, y] : {std::pair{left.epoch, right.epoch},
                             {left.upstream, right.upstream},
                             {left.revision, right.revision}}) {
    const auto order = CompareParts(x, y);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

bool OlderVersion::operator()(std::string_view a, std::string_view b) const {
  const auto order = CompareVersions(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace fieldcost::analysis

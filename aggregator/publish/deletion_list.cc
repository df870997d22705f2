#include "aggregator/publish/deletion_list.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "common/base/text.h"
#include "common/wire/public_tree.h"

namespace fieldcost::publish {
namespace {

struct Line {
  std::uint64_t seconds = 0;
  std::string_view path;
};

std::optional<Line> ParseLine(std::string_view untrusted_line) {
  const std::size_t blank = untrusted_line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto seconds = ParseUint64(untrusted_line.substr(0, blank));
  const std::string_view untrusted_path = untrusted_line.substr(blank + 1);
  if (!seconds || std::to_string(*seconds) != untrusted_line.substr(0, blank) ||
      !wire::ParsePublicPath('/' + std::string(untrusted_path))) {
    return std::nullopt;
  }
  return Line{*seconds, untrusted_path};
}

}  // namespace

std::string EncodeDeletions(const DeletionList& deletions) {
  std::string text;
  for (const auto& [path, seconds] : deletions) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", seconds, path);
  }
  return text;
}

Result<DeletionList> ParseDeletions(std::string_view untrusted_text) {
  DeletionList deletions;
  for (std::size_t number = 1; !untrusted_text.empty(); ++number) {
    if (number > kMaxDeletions) {
      return Fail(ErrorCode::kTooLarge, "more than {} deletions", kMaxDeletions);
    }
    const std::size_t end = untrusted_text.find('\n');
    const auto line = ParseLine(untrusted_text.substr(0, end));
    if (end == std::string_view::npos || !line ||
        (!deletions.empty() && deletions.rbegin()->first >= line->path)) {
      return Fail(ErrorCode::kCorrupt,
                  "line {} is not a time and a path of a published file, or not in order", number);
    }
    deletions.emplace_hint(deletions.end(), line->path, line->seconds);
    untrusted_text.remove_prefix(end + 1);
  }
  return deletions;
}

}  // namespace fieldcost::publish

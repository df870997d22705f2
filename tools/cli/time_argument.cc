#include "tools/cli/time_argument.h"

#include <array>
#include <cstdint>

#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMostDigits = 6;

// Removes `separator` and a number of `count` digits from the beginning of `text`, and returns the
// number.
std::optional<int> TakeNumber(std::string_view& text, std::size_t count,
                              std::string_view separators = "") {
  if (!separators.empty()) {
    if (text.empty() || separators.find(text[0]) == std::string_view::npos) return std::nullopt;
    text.remove_prefix(1);
  }
  if (text.size() < count) return std::nullopt;
  const auto number = ParseUint64(text.substr(0, count));
  if (!number) return std::nullopt;
  text.remove_prefix(count);
  return static_cast<int>(*number);
}

std::optional<WallTime> ParseUtc(std::string_view text) {
  const auto year = TakeNumber(text, 4);
  const auto month = year ? TakeNumber(text, 2, "-") : std::nullopt;
  const auto day = month ? TakeNumber(text, 2, "-") : std::nullopt;
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const WallTime midnight{std::chrono::sys_days(date)};
  if (text.empty()) return midnight;
  const auto hour = TakeNumber(text, 2, "T ");
  const auto minute = hour ? TakeNumber(text, 2, ":") : std::nullopt;
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  std::optional<int> second = 0;
  if (text.starts_with(':')) second = TakeNumber(text, 2, ":");
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (!text.empty() || !second || *second > 59) return std::nullopt;
  return midnight + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace

std::optional<std::chrono::seconds> ParseDuration(std::string_view text) {
  struct Unit {
    char letter;
    std::int64_t seconds;
  };
  constexpr std::array<Unit, 5> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}}};
  if (text.empty() || text.size() > kMostDigits + 1) return std::nullopt;
  const auto number = ParseUint64(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.letter == text.back()) {
      return std::chrono::seconds(static_cast<std::int64_t>(*number) * unit.seconds);
    }
  }
  return std::nullopt;
}

Result<WallTime> ParsePastTime(std::string_view text, WallTime now) {
  if (const auto ago = ParseDuration(text)) return now - *ago;
  if (const auto time = ParseUtc(text)) return *time;
  return Fail(
      ErrorCode::kInvalidArgument,
      "expected a time: 90s, 10m, 2h, 3d or 1w (ago), 2026-11-20 or 2026-11-20T10:30 (UTC)");
}

}  // namespace fieldcost::cli

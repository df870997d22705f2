#include "common/base/clock.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"

namespace fieldcost {
namespace {

class RealClock final : public Clock {
 public:
  WallTime Now() const override {
    return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& SystemClock() {
  static const RealClock* const clock = new RealClock;
  return *clock;
}

std::uint64_t MicrosOf(WallTime time) {
  return static_cast<std::uint64_t>(std::max<WallTime::rep>(0, time.time_since_epoch().count()));
}

WallTime TimeOfMicros(std::uint64_t micros) {
  return WallTime(std::chrono::microseconds(static_cast<std::int64_t>(micros)));
}

std::uint64_t ClockNs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t WeekOf(WallTime time) {
  const auto weeks = std::chrono::floor<std::chrono::weeks>(time.time_since_epoch()).count();
  return weeks < 0 ? 0 : static_cast<std::uint32_t>(weeks);
}

std::optional<std::uint32_t> WeekOfDay(std::string_view untrusted_day) {
  constexpr std::size_t kDayLength = 10;
  if (untrusted_day.size() != kDayLength || untrusted_day[4] != '-' || untrusted_day[7] != '-') {
    return std::nullopt;
  }
  const auto year = ParseUint64(untrusted_day.substr(0, 4));
  const auto month = ParseUint64(untrusted_day.substr(5, 2));
  const auto number = ParseUint64(untrusted_day.substr(8, 2));
  if (!year || !month || !number || *year < 1970) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*number)));
  if (!date.ok()) return std::nullopt;
  return WeekOf(std::chrono::sys_days(date));
}

std::string FirstDayOf(std::uint32_t week) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(7 * std::int64_t{week}))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace fieldcost

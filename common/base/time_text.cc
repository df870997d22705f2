#include "common/base/time_text.h"

#include <fmt/chrono.h>

#include <ctime>

namespace fieldcost {
namespace {

std::tm PartsOf(std::chrono::sys_seconds time) {
  return fmt::gmtime(static_cast<std::time_t>(time.time_since_epoch().count()));
}

}  // namespace

std::string MinuteText(std::chrono::sys_seconds time) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", PartsOf(time));
}

std::string Rfc3339Text(WallTime time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     PartsOf(std::chrono::floor<std::chrono::seconds>(time)));
}

}  // namespace fieldcost

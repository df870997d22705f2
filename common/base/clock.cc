#include "common/base/clock.h"

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

std::uint32_t WeekOf(WallTime time) {
  const auto weeks = std::chrono::floor<std::chrono::weeks>(time.time_since_epoch()).count();
  return weeks < 0 ? 0 : static_cast<std::uint32_t>(weeks);
}

}  // namespace fieldcost

#include "agent/runs/tsc_calibration.h"

#include <fmt/format.h>
#include <time.h>

#include <string>

#include "agent/runs/boot_id.h"
#include "agent/runs/x86_64/runs_machine.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/stats/uint128.h"

namespace fieldcost::runs {
namespace {

constexpr std::uint64_t kCalibrationNs = 40'000'000;
constexpr int kReadings = 16;  // per end; the one with the shortest bracket is used
constexpr std::size_t kMaxCacheFileBytes = 256;
// 0.1 to 10 GHz; anything else indicates a broken counter.
constexpr std::uint64_t kMinMultiplier = (std::uint64_t{1} << 32) / 10;
constexpr std::uint64_t kMaxMultiplier = (std::uint64_t{1} << 32) * 10;

struct Reading {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

Reading ReadBoth() {
  Reading best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = ReadTimeStamp();
    const std::uint64_t ns = ClockNs(CLOCK_MONOTONIC_RAW);
    const std::uint64_t after = ReadTimeStamp();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {.ticks = before + (after - before) / 2, .ns = ns};
  }
  return best;
}

}  // namespace

std::uint64_t CalibrateTsc() {
  if (!HasInvariantTimeStamps()) return 0;
  const Reading begin = ReadBoth();
  const timespec pause{.tv_sec = 0, .tv_nsec = kCalibrationNs};
  ::nanosleep(&pause, nullptr);
  const Reading end = ReadBoth();
  if (end.ticks <= begin.ticks || end.ns <= begin.ns) return 0;
  const stats::Uint128 scaled = stats::Uint128{end.ns - begin.ns} << 32;
  const auto multiplier = static_cast<std::uint64_t>(scaled / (end.ticks - begin.ticks));
  return multiplier < kMinMultiplier || multiplier > kMaxMultiplier ? 0 : multiplier;
}

std::uint64_t TscMultiplier(const std::filesystem::path& cache_file) {
  const std::string boot_id = BootId();
  if (const auto untrusted_cache = ReadFile(cache_file, kMaxCacheFileBytes);
      untrusted_cache && !boot_id.empty() && untrusted_cache->starts_with(boot_id + " ")) {
    std::string_view number = *untrusted_cache;
    number.remove_prefix(boot_id.size() + 1);
    if (number.ends_with('\n')) number.remove_suffix(1);
    const auto multiplier = ParseUint64(number);
    if (multiplier && *multiplier >= kMinMultiplier && *multiplier <= kMaxMultiplier) {
      return *multiplier;
    }
  }
  const std::uint64_t multiplier = CalibrateTsc();
  if (multiplier != 0 && !boot_id.empty()) {
    const Status written =
        WriteFileAtomically(cache_file, fmt::format("{} {}\n", boot_id, multiplier), 0600);
    if (!written) LogWarning("clock calibration is not cached: {}", written.error().message);
  }
  return multiplier;
}

}  // namespace fieldcost::runs

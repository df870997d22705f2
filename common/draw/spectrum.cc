#include "common/draw/spectrum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "common/draw/numbers.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::draw {
namespace {

constexpr unsigned kHottestSlot = 31;
constexpr std::size_t kBarWidth = 40;
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 10> kAscii = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};

// From 1 (rare) to levels - 1 (most frequent); 0 only for none.
std::size_t LevelOf(double share, std::size_t levels) {
  if (share <= 0) return 0;
  const auto level = static_cast<std::size_t>(std::ceil(share * static_cast<double>(levels - 1)));
  return std::clamp<std::size_t>(level, 1, levels - 1);
}

std::size_t SlotsPerColumn(const UsedSlots& range, std::size_t width) {
  const std::size_t slots = range.last - range.first + 1;
  return (slots + width - 1) / width;
}

std::string Bound(unsigned power) {
  constexpr std::array<const char*, 7> kSuffixes = {"", "K", "M", "G", "T", "P", "E"};
  return fmt::format("{}{}", 1U << (power % 10), kSuffixes[power / 10]);
}

constexpr unsigned kLeastTimeSlot = shm::SlotOf(kLeastTimeNs - 1);
static_assert(shm::SlotMax(kLeastTimeSlot) + 1 == kLeastTimeNs);

}  // namespace

std::string BucketLabel(unsigned slot, const Bars& bars) {
  if (bars.are_times && slot == kLeastTimeSlot) return fmt::format("[0, {})", Bound(slot));
  if (slot == 0) return "[0]";
  return fmt::format("[{}, {})", Bound(slot - 1), Bound(slot));
}

Bars JoinShortTimes(Bars bars, stats::Metric metric) {
  bars.are_times = stats::Unit(metric) == "ns";
  for (unsigned slot = 0; bars.are_times && slot < kLeastTimeSlot; ++slot) {
    bars.heights[kLeastTimeSlot] += std::exchange(bars.heights[slot], 0);
  }
  return bars;
}

Bars CountBars(const stats::CostHistogram& histogram, stats::Metric metric) {
  Bars bars;
  histogram.ForEachUsed(
      [&](unsigned slot, const stats::Bucket& bucket) { bars.heights[slot] = bucket.count; });
  return JoinShortTimes(bars, metric);
}

Bars BarsOf(const stats::ApiSums& sums, const stats::Figures& figures, stats::Metric metric) {
  if (figures.whose == stats::Whose::kOwn) return CountBars(sums.histogram, metric);
  return JoinShortTimes(
      {.heights = figures.shares.value_or(stats::BucketShares{}), .are_counts = false}, metric);
}

std::string BarText(const Bars& bars, unsigned slot) {
  if (bars.are_counts) return fmt::format("{}", bars.heights[slot]);
  return fmt::format("{:.1f} %", 100 * stats::ShareOf(bars.heights, slot));
}

std::optional<UsedSlots> FindUsedSlots(const Bars& bars) {
  std::optional<UsedSlots> used;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const std::uint64_t count = bars.heights[slot];
    if (count == 0) continue;
    if (!used) used = UsedSlots{slot, slot, slot};
    used->last = slot;
    if (count > bars.heights[used->fullest]) used->fullest = slot;
  }
  return used;
}

Rgb BucketColor(unsigned slot, double strength) {
  // Hue from 240 degrees (blue) down to 0 (red), then HSV to RGB with full saturation.
  const double heat = std::min(1.0, static_cast<double>(slot) / kHottestSlot);
  const double sector = (1 - heat) * 4;  // 240 degrees / 60
  const double brightness = 0.45 + 0.55 * std::clamp(strength, 0.0, 1.0);
  const double fade = 1 - std::abs(std::fmod(sector, 2.0) - 1);
  double red = 0;
  double green = 0;
  double blue = 0;
  if (sector < 1) {
    red = 1, green = fade;
  } else if (sector < 2) {
    red = fade, green = 1;
  } else if (sector < 3) {
    green = 1, blue = fade;
  } else {
    green = fade, blue = 1;
  }
  const auto part = [&](double value) {
    return static_cast<std::uint8_t>(std::lround(255 * value * brightness));
  };
  return Rgb{part(red), part(green), part(blue)};
}

std::string Spectrum(const Bars& bars, std::size_t width, const Style& style) {
  const std::optional<UsedSlots> range = FindUsedSlots(bars);
  if (!range || width == 0) return std::string(width, ' ');
  return SpectrumOver(bars, *range, width, style);
}

std::string SpectrumOver(const Bars& bars, const UsedSlots& range, std::size_t width,
                         const Style& style) {
  const std::size_t slots_per_column = SlotsPerColumn(range, width);
  struct Column {
    unsigned slot;
    double count;
  };
  std::vector<Column> columns;
  double most = 0;
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    if ((slot - range.first) % slots_per_column == 0) columns.push_back({slot, 0});
    columns.back().count += static_cast<double>(bars.heights[slot]);
    most = std::max(most, columns.back().count);
  }
  std::string line;
  for (const Column& column : columns) {
    const double share = most == 0 ? 0 : column.count / most;
    const char* glyph = style.utf8 ? kBlocks[LevelOf(share, kBlocks.size())]
                                   : kAscii[LevelOf(share, kAscii.size())];
    line += column.count == 0
                ? glyph
                : Paint(glyph, BucketColor(column.slot, std::sqrt(share)), style.color);
  }
  return line + std::string(width - columns.size(), ' ');
}

std::optional<UsedSlots> Join(const std::optional<UsedSlots>& a,
                              const std::optional<UsedSlots>& b) {
  if (!a || !b) return a ? a : b;
  return UsedSlots{std::min(a->first, b->first), std::max(a->last, b->last), a->fullest};
}

std::string SpectrumLegend(const UsedSlots& range, std::size_t width, stats::Metric metric,
                           const Style& style) {
  std::string line;
  const std::size_t slots_per_column = SlotsPerColumn(range, width);
  for (std::size_t slot = range.first; slot <= range.last; slot += slots_per_column) {
    line += Paint(style.utf8 ? kBlocks.back() : kAscii.back(),
                  BucketColor(static_cast<unsigned>(slot), 1), style.color);
  }
  const auto cost = [&](std::uint64_t value) {
    return FormatCost(static_cast<double>(value), metric, style);
  };
  return fmt::format("cold {} {} {} hot; height and strength: how many\n",
                     cost(shm::SlotMin(range.first)), line, cost(shm::SlotMax(range.last)));
}

std::string HistogramView(const Bars& bars, const Style& style) {
  const std::optional<UsedSlots> range = FindUsedSlots(bars);
  if (!range) return "";
  const std::uint64_t most = bars.heights[range->fullest];
  std::string text;
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    const double share = static_cast<double>(bars.heights[slot]) / static_cast<double>(most);
    const auto length = static_cast<std::size_t>(std::floor(share * double{kBarWidth}));
    const std::string bar =
        Paint(std::string(length, '@'), BucketColor(slot, std::sqrt(share)), style.color);
    text += fmt::format("{:<14}{:>12} |{}{}|\n", BucketLabel(slot, bars), BarText(bars, slot),
                        length == 0 ? "" : bar, std::string(kBarWidth - length, ' '));
  }
  return text;
}

}  // namespace fieldcost::draw

#include "common/draw/spectrum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/draw/numbers.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::draw {
namespace {

constexpr unsigned kMostExpensiveSlot = 31;
constexpr std::size_t kBarWidth = 36;  // any histogram fits 80 columns
constexpr std::size_t kBarWidthBesideMeans = 20;
constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 10> kAscii = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};

// Returns 1 (rare) to levels - 1 (most frequent); 0 only if the share is zero.
std::size_t LevelOf(double share, std::size_t levels) {
  if (share <= 0) return 0;
  const auto level = static_cast<std::size_t>(std::ceil(share * static_cast<double>(levels - 1)));
  return std::clamp<std::size_t>(level, 1, levels - 1);
}

std::size_t SlotsPerColumn(const UsedSlots& range, std::size_t width) {
  const std::size_t slots = range.last - range.first + 1;
  return (slots + width - 1) / width;
}

constexpr unsigned kLeastTimeSlot = shm::SlotOf(kLeastTimeNs - 1);
static_assert(shm::SlotMax(kLeastTimeSlot) + 1 == kLeastTimeNs);

}  // namespace

std::string BucketText(unsigned slot, stats::Metric metric, const Style& style) {
  const auto min = static_cast<double>(shm::SlotMin(slot));
  if (slot <= 1 || IsUnderLeastTime(min, metric)) return FormatCost(min, metric, style);
  return FormatInterval(min, min * 2, style.utf8 ? " – " : " - ", metric, style);
}

Bars JoinShortTimes(Bars bars, stats::Metric metric) {
  const bool are_times = stats::Unit(metric) == "ns";
  for (unsigned slot = 0; are_times && slot < kLeastTimeSlot; ++slot) {
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
  return ShareText(stats::ShareOf(bars.heights, slot));
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

Rgb BucketColor(unsigned slot) {
  // From dark blue over grey to yellow: the scale cividis (Nuñez, Anderton and Renslow, "Optimizing
  // colormaps with consideration for color vision deficiency", PLOS ONE 13(7), 2018), whose hues
  // all kinds of colour vision can distinguish. Omits its darkest part, which would be invisible on
  // black.
  constexpr std::array<std::array<double, 3>, 5> kStops = {
      {{44, 79, 163}, {95, 120, 168}, {143, 154, 146}, {196, 179, 94}, {255, 212, 59}}};
  const double place = std::min(1.0, static_cast<double>(slot) / kMostExpensiveSlot) *
                       static_cast<double>(kStops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(below);
  const auto mix = [&](std::size_t channel) {
    return static_cast<std::uint8_t>(
        std::lround(kStops[below][channel] * (1 - part) + kStops[below + 1][channel] * part));
  };
  return {.red = mix(0), .green = mix(1), .blue = mix(2)};
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
    line += column.count == 0 ? glyph : Paint(glyph, BucketColor(column.slot), style.color);
  }
  return line + std::string(width - columns.size(), ' ');
}

std::optional<UsedSlots> Join(const std::optional<UsedSlots>& a,
                              const std::optional<UsedSlots>& b) {
  if (!a || !b) return a ? a : b;
  return UsedSlots{std::min(a->first, b->first), std::max(a->last, b->last), a->fullest};
}

std::vector<double> TicksOf(const UsedSlots& range, stats::Metric metric) {
  std::vector<double> ticks;
  const double step = stats::Unit(metric) == "bytes" ? 1024 : 1000;
  const auto least = static_cast<double>(shm::SlotMin(range.first));
  const auto most = static_cast<double>(shm::SlotMax(range.last));
  for (double tick = step; tick < most && ticks.size() < 3; tick *= step) {
    if (tick > least) ticks.push_back(tick);
  }
  return ticks;
}

std::string SpectrumLegend(const UsedSlots& range, std::size_t width, stats::Metric metric,
                           const Style& style) {
  const std::size_t slots_per_column = SlotsPerColumn(range, width);
  const std::string_view tick_mark = style.utf8 ? "┃" : "|";
  std::set<std::size_t> marked;  // columns
  std::string ticks;
  for (const double tick : TicksOf(range, metric)) {
    const unsigned slot = shm::SlotOf(static_cast<std::uint64_t>(tick));
    marked.insert((slot - range.first) / slots_per_column);
    ticks += (ticks.empty() ? fmt::format("; {} = ", tick_mark) : ", ") +
             FormatTick(tick, metric, style);
  }
  std::string line;
  for (std::size_t slot = range.first; slot <= range.last; slot += slots_per_column) {
    const bool is_tick = marked.contains((slot - range.first) / slots_per_column);
    line += Paint(is_tick      ? tick_mark
                  : style.utf8 ? kBlocks.back()
                               : kAscii.back(),
                  BucketColor(static_cast<unsigned>(slot)), style.color);
  }
  const auto cost = [&](std::uint64_t value) {
    return FormatBound(static_cast<double>(value), metric, style);
  };
  return fmt::format("cheap {} {} {} expensive{}; height: how many\n",
                     cost(shm::SlotMin(range.first)), line, cost(shm::SlotMax(range.last)), ticks);
}

std::string BucketMeanText(const stats::CostHistogram& histogram, unsigned slot,
                           stats::Metric metric, const Style& style) {
  const stats::Bucket& bucket = histogram.bucket(slot);
  if (bucket.count == 0) return "";
  const double mean = static_cast<double>(bucket.sum) / static_cast<double>(bucket.count);
  return IsUnderLeastTime(mean, metric) ? "" : FormatCost(mean, metric, style);
}

std::string HistogramView(const Bars& bars, stats::Metric metric, const Style& style,
                          const stats::CostHistogram* means) {
  const std::size_t bar_width = means == nullptr ? kBarWidth : kBarWidthBesideMeans;
  const std::optional<UsedSlots> range = FindUsedSlots(bars);
  if (!range) return "";
  const std::uint64_t most = bars.heights[range->fullest];
  std::size_t label_width = 0;
  std::size_t number_width = 0;
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    label_width = std::max(label_width, DisplayWidth(BucketText(slot, metric, style)));
    number_width = std::max(number_width, BarText(bars, slot).size());
  }
  std::string text;
  for (unsigned slot = range->first; slot <= range->last; ++slot) {
    const double share = static_cast<double>(bars.heights[slot]) / static_cast<double>(most);
    const auto length =
        static_cast<std::size_t>(std::floor(share * static_cast<double>(bar_width)));
    const std::string bar = Paint(std::string(length, '@'), BucketColor(slot), style.color);
    text += fmt::format("{}  {} |{}{}|", PadRight(BucketText(slot, metric, style), label_width),
                        PadLeft(BarText(bars, slot), number_width), length == 0 ? "" : bar,
                        std::string(bar_width - length, ' '));
    const std::string mean = means == nullptr ? "" : BucketMeanText(*means, slot, metric, style);
    text += mean.empty() ? "\n" : fmt::format("  mean {}\n", mean);
  }
  return text;
}

}  // namespace fieldcost::draw

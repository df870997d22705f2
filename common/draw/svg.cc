#include "common/draw/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg_parts.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::draw {
namespace {

// Lengths in user units, which are CSS pixels at the drawing's natural size.
constexpr unsigned kSvgBarWidth = 6;
constexpr unsigned kSvgBarGap = 1;
constexpr unsigned kSpectrumHeight = 24;
constexpr unsigned kLineHeight = 20;
constexpr unsigned kLongestBar = 180;
constexpr unsigned kTextGap = 8;
constexpr unsigned kFontSize = kSvgFontSize;
constexpr unsigned kScaleHeight = 6;
constexpr unsigned kTickHeight = 18;
constexpr unsigned kTickFontSize = kSvgTickFontSize;
constexpr unsigned kHeatPitch = 14;
constexpr std::size_t kHeatLabelColumns = 24;

std::string Color(unsigned slot) { return HexColor(BucketColor(slot)); }

// Returns at least 1, so that every bar is visible.
unsigned Length(double share, unsigned longest) {
  return std::max(1U, static_cast<unsigned>(std::lround(share * longest)));
}

std::string Bounds(unsigned slot, stats::Metric metric) {
  return BucketText(slot, metric, kSvgStyle);
}

unsigned WidthOf(const UsedSlots& range) {
  return (range.last - range.first + 1) * (kSvgBarWidth + kSvgBarGap) - kSvgBarGap;
}

std::string Range(const UsedSlots& range, stats::Metric metric) {
  return FormatInterval(static_cast<double>(shm::SlotMin(range.first)),
                        static_cast<double>(shm::SlotMax(range.last)), " to ", metric, kSvgStyle);
}

// Ticks below a drawing of `range` that begins at `left` with `pitch` per slot, and as wide as it.
std::string Ticks(const UsedSlots& range, stats::Metric metric, unsigned left, unsigned pitch,
                  unsigned top) {
  std::string svg;
  const auto width = static_cast<double>((range.last - range.first + 1) * pitch);
  for (const double tick : TicksOf(range, metric)) {
    const double x = (std::log2(tick) + 1 - range.first) * static_cast<double>(pitch);
    const std::string text = FormatTick(tick, metric, kSvgStyle);
    const double half = SvgTextWidth(text) * kTickFontSize / (2.0 * kFontSize);
    // A label that would be cut off is placed next to its tick.
    const char* anchor = x < half ? "start" : x + half > width ? "end" : "middle";
    svg += fmt::format(
        R"(<rect x="{0:.1f}" y="{1}" width="1" height="4" fill="currentColor"/>)"
        R"(<text x="{0:.1f}" y="{2}" text-anchor="{3}" font-size="{4}" fill="currentColor">{5}</text>)",
        left + x, top, top + kTickHeight - 2, anchor, kTickFontSize, text);
  }
  return svg;
}

// "from 1.0 µs to 4.1 µs, most at 2.0 µs – 4.1 µs".
std::string Words(const UsedSlots& used, stats::Metric metric) {
  return fmt::format("from {}, most at {}", Range(used, metric), Bounds(used.fullest, metric));
}

std::string HeatLabel(const HeatLine& line) {
  return Shorten(line.untrusted_label, kHeatLabelColumns, kSvgStyle);
}

// One square per non-empty slot; even the smallest share is visible.
std::string HeatCells(const HeatLine& line, const UsedSlots& range, stats::Metric metric,
                      unsigned left, unsigned top) {
  constexpr double kLeastOpacity = 0.08;
  const auto used = FindUsedSlots(line.bars);
  if (!used) return "";
  const auto most = static_cast<double>(line.bars.heights[used->fullest]);
  double all = 0;
  for (const std::uint64_t height : line.bars.heights) all += static_cast<double>(height);
  std::string svg;
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    const std::uint64_t calls = line.bars.heights[slot];
    if (calls == 0) continue;
    const auto height = static_cast<double>(calls);
    const std::string mean =
        line.means == nullptr ? "" : BucketMeanText(*line.means, slot, metric, kSvgStyle);
    svg += fmt::format(
        R"(<rect x="{}" y="{}" width="{}" height="{}" fill="currentColor" fill-opacity="{:.2f}">)"
        "<title>{}: {}, {}{}</title></rect>",
        left + (slot - range.first) * kHeatPitch, top + 1, kHeatPitch - 1, kLineHeight - 2,
        kLeastOpacity + (1 - kLeastOpacity) * height / most, EscapeHtml(line.untrusted_label),
        Bounds(slot, metric), ShareText(height / all), mean.empty() ? "" : ", mean " + mean);
  }
  return svg;
}

}  // namespace

std::string SpectrumSvg(const Bars& bars, stats::Metric metric) {
  const auto used = FindUsedSlots(bars);
  return used ? SpectrumSvgOver(bars, *used, metric) : "";
}

std::string SpectrumSvgOver(const Bars& bars, const UsedSlots& range, stats::Metric metric) {
  const auto used = FindUsedSlots(bars);
  if (!used) return "";
  std::string svg = OpenSvg(WidthOf(range), kSpectrumHeight, Words(*used, metric));
  const auto most = static_cast<double>(bars.heights[used->fullest]);
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    const std::uint64_t calls = bars.heights[slot];
    if (calls == 0) continue;
    const double share = static_cast<double>(calls) / most;
    const unsigned height = Length(share, kSpectrumHeight);
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)",
                       (slot - range.first) * (kSvgBarWidth + kSvgBarGap), kSpectrumHeight - height,
                       kSvgBarWidth, height, Color(slot));
  }
  return svg + "</svg>";
}

std::string SpectrumScaleSvg(const UsedSlots& range, stats::Metric metric) {
  constexpr unsigned kPitch = kSvgBarWidth + kSvgBarGap;
  std::string svg = OpenSvg(WidthOf(range), kScaleHeight + kTickHeight,
                            fmt::format("Scale from cheap to expensive: {}", Range(range, metric)));
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    svg += fmt::format(R"(<rect x="{}" y="0" width="{}" height="{}" fill="{}"/>)",
                       (slot - range.first) * kPitch, slot == range.last ? kSvgBarWidth : kPitch,
                       kScaleHeight, Color(slot));
  }
  return svg + Ticks(range, metric, 0, kPitch, kScaleHeight) + "</svg>";
}

std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name) {
  const auto used = FindUsedSlots(bars);
  if (!used) return "";
  const auto count = [&](unsigned slot) {
    return bars.are_counts ? FormatCount(bars.heights[slot]) : BarText(bars, slot);
  };
  unsigned label_width = 0;
  unsigned count_width = 0;
  for (unsigned slot = used->first; slot <= used->last; ++slot) {
    label_width = std::max(label_width, SvgTextWidth(Bounds(slot, metric)));
    count_width = std::max(count_width, SvgTextWidth(count(slot)));
  }
  const unsigned left = label_width + kTextGap;
  const unsigned lines = used->last - used->first + 1;
  std::string svg = OpenSvg(left + kLongestBar + kTextGap + count_width, lines * kLineHeight,
                            fmt::format("Histogram of {}, {}: {}", untrusted_name,
                                        stats::Name(metric), Words(*used, metric)));
  const auto most = static_cast<double>(bars.heights[used->fullest]);
  for (unsigned slot = used->first; slot <= used->last; ++slot) {
    const std::uint64_t calls = bars.heights[slot];
    const unsigned top = (slot - used->first) * kLineHeight;
    const double share = static_cast<double>(calls) / most;
    const unsigned length = calls == 0 ? 0 : Length(share, kLongestBar);
    svg += fmt::format(
        R"(<text x="{}" y="{}" text-anchor="end" font-size="{}" fill="currentColor">{}</text>)",
        label_width, top + 15, kFontSize, Bounds(slot, metric));
    if (calls == 0) continue;
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", left, top + 3,
                       length, kLineHeight - 6, Color(slot));
    svg += fmt::format(R"(<text x="{}" y="{}" font-size="{}" fill="currentColor">{}</text>)",
                       left + length + kTextGap, top + 15, kFontSize, count(slot));
  }
  return svg + "</svg>";
}

std::string HeatMapSvg(std::span<const HeatLine> lines, stats::Metric metric,
                       std::string_view untrusted_name) {
  std::optional<UsedSlots> range;
  unsigned label_width = 0;
  for (const HeatLine& line : lines) {
    range = Join(range, FindUsedSlots(line.bars));
    label_width = std::max(label_width, SvgTextWidth(HeatLabel(line)));
  }
  if (!range) return "";
  const unsigned left = label_width + kTextGap;
  const unsigned cells = range->last - range->first + 1;
  const auto bottom = static_cast<unsigned>(lines.size()) * kLineHeight;
  std::string svg = OpenSvg(left + cells * kHeatPitch, bottom + kTickHeight,
                            fmt::format("Heat map of {}, {}, a line a version: {}", untrusted_name,
                                        stats::Name(metric), Range(*range, metric)));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto top = static_cast<unsigned>(i) * kLineHeight;
    const std::string label = EscapeHtml(HeatLabel(lines[i]));
    svg += fmt::format(
        R"(<text x="{}" y="{}" text-anchor="end" font-size="{}" fill="currentColor">{}</text>)",
        label_width, top + 15, kFontSize, label);
    svg += HeatCells(lines[i], *range, metric, left, top);
  }
  return svg + Ticks(*range, metric, left, kHeatPitch, bottom) + "</svg>";
}

}  // namespace fieldcost::draw

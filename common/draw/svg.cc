#include "common/draw/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::draw {
namespace {

constexpr Style kStyle{.utf8 = true};
// Lengths in user units, which are CSS pixels at the drawing's natural size.
constexpr unsigned kBarWidth = 6;
constexpr unsigned kBarGap = 1;
constexpr unsigned kSpectrumHeight = 24;
constexpr unsigned kLineHeight = 20;
constexpr unsigned kLabelWidth = 150;
constexpr unsigned kLongestBar = 300;
constexpr unsigned kCountWidth = 150;

std::string Color(unsigned slot) {
  const Rgb color = BucketColor(slot);
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

// Shows at least a little of a bar that stands for something.
unsigned Length(double share, unsigned longest) {
  return std::max(1U, static_cast<unsigned>(std::lround(share * longest)));
}

std::string Bounds(unsigned slot, stats::Metric metric) {
  const auto min = static_cast<double>(shm::SlotMin(slot));
  if (slot <= 1 || IsUnderLeastTime(min, metric)) return FormatCost(min, metric, kStyle);
  return FormatInterval(min, min * 2, " – ", metric, kStyle);
}

// "from 1.0 µs to 4.1 µs, most at 2.0 µs – 4.1 µs".
std::string Words(const UsedSlots& used, stats::Metric metric) {
  const double min = static_cast<double>(shm::SlotMin(used.first));
  const double max = static_cast<double>(shm::SlotMax(used.last));
  return fmt::format("from {}, most at {}", FormatInterval(min, max, " to ", metric, kStyle),
                     Bounds(used.fullest, metric));
}

std::string Open(unsigned width, unsigned height, const std::string& words) {
  const std::string escaped = EscapeHtml(words);
  return fmt::format(
      "<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
      "<title>{0}</title>",
      escaped, width, height);
}

}  // namespace

std::string SpectrumSvg(const Bars& bars, stats::Metric metric) {
  const auto used = FindUsedSlots(bars);
  if (!used) return "";
  const unsigned count = used->last - used->first + 1;
  std::string svg =
      Open(count * (kBarWidth + kBarGap) - kBarGap, kSpectrumHeight, Words(*used, metric));
  const auto most = static_cast<double>(bars.heights[used->fullest]);
  for (unsigned slot = used->first; slot <= used->last; ++slot) {
    const std::uint64_t calls = bars.heights[slot];
    if (calls == 0) continue;
    const double share = static_cast<double>(calls) / most;
    const unsigned height = Length(share, kSpectrumHeight);
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)",
                       (slot - used->first) * (kBarWidth + kBarGap), kSpectrumHeight - height,
                       kBarWidth, height, Color(slot));
  }
  return svg + "</svg>";
}

std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name) {
  const auto used = FindUsedSlots(bars);
  if (!used) return "";
  const unsigned lines = used->last - used->first + 1;
  std::string svg = Open(kLabelWidth + kLongestBar + kCountWidth, lines * kLineHeight,
                         fmt::format("Histogram of {}, {}: {}", untrusted_name, stats::Name(metric),
                                     Words(*used, metric)));
  const auto most = static_cast<double>(bars.heights[used->fullest]);
  for (unsigned slot = used->first; slot <= used->last; ++slot) {
    const std::uint64_t calls = bars.heights[slot];
    const unsigned top = (slot - used->first) * kLineHeight;
    const double share = static_cast<double>(calls) / most;
    const unsigned length = calls == 0 ? 0 : Length(share, kLongestBar);
    svg += fmt::format(
        R"(<text x="{}" y="{}" text-anchor="end" font-size="13" fill="currentColor">{}</text>)",
        kLabelWidth - 8, top + 15, Bounds(slot, metric));
    if (calls == 0) continue;
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", kLabelWidth,
                       top + 3, length, kLineHeight - 6, Color(slot));
    svg += fmt::format(R"(<text x="{}" y="{}" font-size="13" fill="currentColor">{}</text>)",
                       kLabelWidth + length + 8, top + 15,
                       bars.are_counts ? FormatCount(calls) : BarText(bars, slot));
  }
  return svg + "</svg>";
}

}  // namespace fieldcost::draw

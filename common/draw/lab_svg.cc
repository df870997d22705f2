#include "common/draw/lab_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg_parts.h"
#include "common/draw/terminal.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::draw {
namespace {

// Dimensions of a curve's drawing.
constexpr unsigned kPlotWidth = 240;
constexpr unsigned kPlotHeight = 130;
constexpr unsigned kTop = 24;  // room above the plot for the vertical axis's label
constexpr unsigned kBottom = 40;
constexpr unsigned kLabelGap = 8;
constexpr unsigned kMostTicks = 4;

// Dimensions of a matrix's drawing.
constexpr unsigned kPitch = 18;
constexpr std::size_t kNameColumns = 20;

std::string TimeText(double octaves) {
  return FormatCost(std::exp2(octaves), stats::Metric::kWallTime, kSvgStyle);
}

// "16", "1K", "64M": a bucket's lower edge, as in text histograms.
std::string EdgeText(unsigned slot) {
  constexpr std::string_view kUnits = " KMGTPE";
  if (slot == 0) return "0";
  const unsigned octave = slot - 1;
  const std::string number = std::to_string(std::uint64_t{1} << (octave % 10));
  return octave < 10 ? number : number + kUnits[octave / 10];
}

std::string ArgumentText(const stats::Growth& growth) {
  return growth.argument == stats::ShapeArgument::kScanValue
             ? "scanned value"
             : fmt::format("argument {}", growth.argument);
}

// Converts points to positions within the plot.
class Scales {
 public:
  explicit Scales(const stats::Growth& growth)
      : first_(growth.points.front().slot),
        slots_(std::max(1U, growth.points.back().slot - first_)) {
    low_ = high_ = growth.points.front().octaves;
    unsigned widest = 0;
    for (const stats::GrowthPoint& point : growth.points) {
      for (const double octaves : {point.octaves, point.fitted_octaves}) {
        low_ = std::min(low_, octaves);
        high_ = std::max(high_, octaves);
        widest = std::max(widest, SvgTextWidth(TimeText(octaves)));
      }
    }
    left_ = widest + kLabelGap;
  }

  double X(unsigned slot) const {
    return left_ + static_cast<double>((slot - first_) * kPlotWidth) / slots_;
  }
  double Y(double octaves) const {
    const double above = high_ > low_ ? (octaves - low_) / (high_ - low_) : 0.5;
    return kTop + (1 - above) * kPlotHeight;
  }
  double low() const { return low_; }
  double high() const { return high_; }
  unsigned left() const { return left_; }
  unsigned first() const { return first_; }
  unsigned slots() const { return slots_; }

 private:
  unsigned first_;
  unsigned slots_;
  unsigned left_ = 0;
  double low_ = 0;
  double high_ = 0;
};

std::string Axes(const stats::Growth& growth, const Scales& scales) {
  const double bottom = kTop + kPlotHeight;
  std::string svg = fmt::format(
      R"(<rect x="{}" y="{}" width="1" height="{}" fill="currentColor"/>)"
      R"(<rect x="{}" y="{}" width="{}" height="1" fill="currentColor"/>)",
      scales.left() - 4, kTop, kPlotHeight + 5, scales.left() - 4, bottom + 4, kPlotWidth + 8);
  svg += SvgText(0, kSvgFontSize, "start", kSvgFontSize, "mean cost");
  const double middle = (scales.low() + scales.high()) / 2;
  for (const double octaves : {scales.low(), middle, scales.high()}) {
    svg += SvgText(scales.left() - kLabelGap, scales.Y(octaves) + 4, "end", kSvgTickFontSize,
                   TimeText(octaves));
  }
  const unsigned step = (scales.slots() + kMostTicks - 1) / kMostTicks;
  for (unsigned slot = scales.first(); slot <= scales.first() + scales.slots(); slot += step) {
    svg += SvgText(scales.X(slot), bottom + 18, "middle", kSvgTickFontSize, EdgeText(slot));
  }
  return svg + SvgText(scales.left() + kPlotWidth, bottom + kBottom - 4, "end", kSvgFontSize,
                       ArgumentText(growth));
}

}  // namespace

std::string GrowthSvg(const stats::Growth& growth, std::string_view untrusted_name) {
  if (growth.points.empty()) return "";
  const Scales scales(growth);
  std::string svg = OpenSvg(
      scales.left() + kPlotWidth + 24, kTop + kPlotHeight + kBottom,
      fmt::format("Mean cost of {} by {}: from {} at {} to {} at {}", untrusted_name,
                  ArgumentText(growth), TimeText(growth.points.front().octaves),
                  EdgeText(growth.points.front().slot), TimeText(growth.points.back().octaves),
                  EdgeText(growth.points.back().slot)));
  svg += Axes(growth, scales);
  std::string curve;
  for (const stats::GrowthPoint& point : growth.points) {
    curve += fmt::format("{:.1f},{:.1f} ", scales.X(point.slot), scales.Y(point.fitted_octaves));
  }
  curve.pop_back();
  svg += fmt::format(R"(<polyline points="{}" fill="none" stroke="currentColor"/>)", curve);
  for (const stats::GrowthPoint& point : growth.points) {
    svg += fmt::format(
        R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="currentColor"><title>{}</title></circle>)",
        scales.X(point.slot), scales.Y(point.octaves),
        EscapeHtml(fmt::format("from {}: {}, {}", EdgeText(point.slot), TimeText(point.octaves),
                               Counted(point.calls, "call"))));
  }
  return svg + "</svg>";
}

std::string PairsSvg(std::span<const std::string> untrusted_names,
                     const std::set<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (untrusted_names.empty()) return "";
  std::vector<std::string> labels;
  unsigned label_width = 0;
  for (std::size_t i = 0; i < untrusted_names.size(); ++i) {
    labels.push_back(
        fmt::format("{} {}", Shorten(untrusted_names[i], kNameColumns, kSvgStyle), i + 1));
    label_width = std::max(label_width, SvgTextWidth(labels.back()));
  }
  const unsigned left = label_width + kLabelGap;
  const auto count = static_cast<unsigned>(labels.size());
  std::string svg = OpenSvg(left + count * kPitch, (count + 1) * kPitch,
                            fmt::format("Which of {} are on a stack above which: {}",
                                        Counted(count, "function"), Counted(pairs.size(), "pair")));
  for (unsigned i = 0; i < count; ++i) {
    svg += SvgText(left + (i + 0.5) * kPitch, kPitch - 5, "middle", kSvgTickFontSize,
                   std::to_string(i + 1));
    // Shorten() has already escaped it for terminals, so it is plain text.
    svg += SvgText(label_width, (i + 2) * kPitch - 5, "end", kSvgFontSize, labels[i]);
  }
  for (const auto& [line, column] : pairs) {
    if (line >= count || column >= count) continue;
    svg += fmt::format(
        R"(<rect x="{}" y="{}" width="{}" height="{}" fill="currentColor"><title>{}</title></rect>)",
        left + column * kPitch + 1, (line + 1) * kPitch + 1, kPitch - 2, kPitch - 2,
        EscapeHtml(fmt::format("{} above {}", untrusted_names[line], untrusted_names[column])));
  }
  return svg + "</svg>";
}

}  // namespace fieldcost::draw

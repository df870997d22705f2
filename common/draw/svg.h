#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/draw/spectrum.h"
#include "common/stats/api_key.h"

namespace fieldcost::draw {

// Drawings for embedding in HTML pages. Colours are those of the terminal (spectrum.h); text has
// the page's colour and font, to suit light and dark themes. They use attributes only: no style,
// script or reference. Each has a text description. Deterministic.

// Small: one bar per bucket of the used range, height = count, colour = bucket. Empty if there are
// no bars.
std::string SpectrumSvg(const Bars& bars, stats::Metric metric);
// The same over the slots of `range`, so that several drawings share one scale. Empty if it has no
// bars in that range.
std::string SpectrumSvgOver(const Bars& bars, const UsedSlots& range, stats::Metric metric);

// The scale for those: every colour at its position, ticks with their costs below, and the lowest
// and highest cost as text.
std::string SpectrumScaleSvg(const UsedSlots& range, stats::Metric metric);

// Large: one line per bucket of the used range: bounds, bar, count. `untrusted_name` states what
// was measured.
std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name);

// Several histograms as one heat map: one labelled line per histogram, one column per bucket of the
// range that any of them uses. A cell is darker (on dark pages: lighter) the greater its share of
// the line's calls, and has its numbers as text; ticks below. Empty if there are no bars.
struct HeatLine {
  std::string untrusted_label;
  Bars bars;
  const stats::CostHistogram* means = nullptr;  // for the mean of each cell's bucket; nullptr: none
};
std::string HeatMapSvg(std::span<const HeatLine> lines, stats::Metric metric,
                       std::string_view untrusted_name);

}  // namespace fieldcost::draw

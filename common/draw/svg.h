#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/draw/spectrum.h"
#include "common/stats/api_key.h"

namespace fieldcost::draw {

// Drawings for embedding in an HTML page. Colours are those of the terminal (spectrum.h); text has
// the colour and font of the page, so that they suit light and dark themes. Everything is in
// attributes: no style, script or reference. Each has a text description. Deterministic.

// Small: one bar per bucket of the used range, height = count, colour = bucket.
// Empty text if there are no bars.
std::string SpectrumSvg(const Bars& bars, stats::Metric metric);
// The same over the slots of `range`, so that several drawings share one scale. Empty text if there
// are no bars in it.
std::string SpectrumSvgOver(const Bars& bars, const UsedSlots& range, stats::Metric metric);

// The scale for those: every colour at its place, ticks with their costs below it, and the least
// and greatest cost as text.
std::string SpectrumScaleSvg(const UsedSlots& range, stats::Metric metric);

// Large: one line per bucket of the used range: bounds, bar, count. `untrusted_name` is what was
// measured.
std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name);

// Several histograms as one heat map: one labelled line per histogram, one column per bucket of the
// range that any of them uses. A cell is darker (on dark pages: lighter) the greater its share of
// the line's calls, and has its numbers as text; ticks below. Empty text if there are no bars.
struct HeatLine {
  std::string untrusted_label;
  Bars bars;
  const stats::CostHistogram* means = nullptr;  // whose buckets' means the cells tell; none
};
std::string HeatMapSvg(std::span<const HeatLine> lines, stats::Metric metric,
                       std::string_view untrusted_name);

}  // namespace fieldcost::draw

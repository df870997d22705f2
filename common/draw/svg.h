#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/draw/spectrum.h"
#include "common/stats/api_key.h"

namespace fieldcost::draw {

// Drawings to stand inside an HTML page. Colours are those of the terminal (spectrum.h), text has
// the colour and font of the page, so that they suit light and dark. Everything is in attributes:
// no style, no script, no reference. Each says in words what it shows. Deterministic.

// Small: a bar a bucket over the used range, height = how many, colour = bucket.
// Empty text if there are no bars.
std::string SpectrumSvg(const Bars& bars, stats::Metric metric);
// The same over the slots of `range`, so that several below each other are on one scale. Empty
// text if there are no bars in it.
std::string SpectrumSvgOver(const Bars& bars, const UsedSlots& range, stats::Metric metric);

// The scale of those: every colour in its place, ticks with their costs below it, and the cheapest
// and the most expensive cost in words.
std::string SpectrumScaleSvg(const UsedSlots& range, stats::Metric metric);

// Large: a line a bucket over the used range: bounds, bar, how many. `untrusted_name` tells what
// was measured.
std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name);

// Several histograms as one heat map: a line each with its label, a column a bucket over the range
// that any of them uses, the darker (on dark pages: the lighter) the greater a share of the line's
// calls it holds; ticks below. Each cell says its numbers. Empty text if there are no bars in any.
struct HeatLine {
  std::string untrusted_label;
  Bars bars;
  const stats::CostHistogram* means = nullptr;  // whose buckets' means the cells tell; none
};
std::string HeatMapSvg(std::span<const HeatLine> lines, stats::Metric metric,
                       std::string_view untrusted_name);

}  // namespace fieldcost::draw

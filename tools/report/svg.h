#pragma once

#include <string>
#include <string_view>

#include "common/stats/api_key.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::report {

// Drawings to stand inside an HTML page. Colours are those of the terminal (spectrum.h), text has
// the colour and font of the page, so that they suit light and dark. Everything is in attributes:
// no style, no script, no reference. Each says in words what it shows. Deterministic.

// Small: a bar a bucket over the used range, height and strength = count, colour = bucket. Empty
// text for an empty histogram.
std::string SpectrumSvg(const stats::CostHistogram& histogram, stats::Metric metric);

// Large: a line a bucket over the used range: bounds, bar, count. `untrusted_name` tells what was
// measured.
std::string HistogramSvg(const stats::CostHistogram& histogram, stats::Metric metric,
                         std::string_view untrusted_name);

}  // namespace fieldcost::report

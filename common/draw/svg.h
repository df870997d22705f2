#pragma once

#include <string>
#include <string_view>

#include "common/draw/spectrum.h"
#include "common/stats/api_key.h"

namespace fieldcost::draw {

// Drawings to stand inside an HTML page. Colours are those of the terminal (spectrum.h), text has
// the colour and font of the page, so that they suit light and dark. Everything is in attributes:
// no style, no script, no reference. Each says in words what it shows. Deterministic.

// Small: a bar a bucket over the used range, height and strength = how many, colour = bucket.
// Empty text if there are no bars.
std::string SpectrumSvg(const Bars& bars, stats::Metric metric);

// Large: a line a bucket over the used range: bounds, bar, how many. `untrusted_name` tells what
// was measured.
std::string HistogramSvg(const Bars& bars, stats::Metric metric, std::string_view untrusted_name);

}  // namespace fieldcost::draw

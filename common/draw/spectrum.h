#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/stats/api_key.h"
#include "common/stats/figures.h"

namespace fieldcost::draw {

// The colour of a bucket, on the same scale everywhere: from dark blue for the cheapest to yellow
// from 2^30 on (a second, a GiB). Lightness increases throughout, so hues are not needed to read
// it.
Rgb BucketColor(unsigned slot);

// The heights of a histogram's bars, as drawn.
struct Bars {
  stats::BucketShares heights{};
  bool are_counts = true;  // numbers of calls; else multiples of 1 / stats::kWeightOne
};
// For times, joins all buckets below kLeastTimeNs into one.
Bars JoinShortTimes(Bars bars, stats::Metric metric);
// Weights every call equally; for calls all made by one machine.
Bars CountBars(const stats::CostHistogram& histogram, stats::Metric metric);
// The bars for the figures of these sums: the user's own calls, or the typical machine's shares;
// empty if unknown.
Bars BarsOf(const stats::ApiSums& sums, const stats::Figures& figures, stats::Metric metric);
// A bar's value as text: "1234", or "12.3 %".
std::string BarText(const Bars& bars, unsigned slot);

// The used range of a histogram.
struct UsedSlots {
  unsigned first = 0;
  unsigned last = 0;
  unsigned fullest = 0;  // the first of the highest ones
};
std::optional<UsedSlots> FindUsedSlots(const Bars& bars);

// The histogram as one line of exactly `width` columns: the used range of buckets from left (cheap)
// to right (expensive), one column each, or joined to fit. Height (blocks, or " .:-=+*#%@" without
// UTF-8) is the number of calls, colour the bucket. Readable without colour.
std::string Spectrum(const Bars& bars, std::size_t width, const Style& style);
// The same over the slots `first` to `last`, so that several spectra can be compared.
std::string SpectrumOver(const Bars& bars, const UsedSlots& range, std::size_t width,
                         const Style& style);
// The slots that either histogram uses.
std::optional<UsedSlots> Join(const std::optional<UsedSlots>& a, const std::optional<UsedSlots>& b);

// The labelled costs of a scale within these slots: 1 µs, 1 ms, 1 s; for bytes 1 KiB, 1 MiB, 1 GiB;
// for others 1,000 and so on. Ascending, in the metric's unit.
std::vector<double> TicksOf(const UsedSlots& range, stats::Metric metric);

// A legend for SpectrumOver() of the same width: every colour, with words that explain it: "cheap
// 16 ns ██┃█ 8.4 ms expensive; ┃ = 1 µs; height: how many".
std::string SpectrumLegend(const UsedSlots& range, std::size_t width, stats::Metric metric,
                           const Style& style);

// A bucket's half-open bounds: "4.1 µs – 8.2 µs", "64 B – 128 B"; for times the first is "under 16
// ns".
std::string BucketText(unsigned slot, stats::Metric metric, const Style& style);

// The mean of a bucket's values: "171 ns"; empty if none, or they are too short to
// distinguish.
std::string BucketMeanText(const stats::CostHistogram& histogram, unsigned slot,
                           stats::Metric metric, const Style& style);

// The histogram, one line per bucket of the used range:
//   128 ns – 256 ns  191 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
// With `means`, a shorter bar and "  mean 171 ns" after it. Empty text if there are no bars.
std::string HistogramView(const Bars& bars, stats::Metric metric, const Style& style,
                          const stats::CostHistogram* means = nullptr);

}  // namespace fieldcost::draw

#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prometheus {
struct MetricFamily;
}  // namespace prometheus

namespace fieldcost::serve {

template <typename Type>
concept MetricValue = std::integral<Type> || std::floating_point<Type>;

struct MetricLabel {
  std::string_view name;
  std::string_view value;
};

// Collects metrics and writes them in Prometheus' text format 0.0.4. Names are
// `fieldcost_PART_WHAT_UNIT`; counters end in `_total`; all units are base units. No name, help
// text or label comes from outside.
class MetricsText {
 public:
  MetricsText();
  ~MetricsText();
  MetricsText(const MetricsText&) = delete;
  MetricsText& operator=(const MetricsText&) = delete;

  void Counter(std::string name, std::string help, MetricValue auto value) {
    BeginCounters(std::move(name), std::move(help));
    AddValue(static_cast<double>(value), nullptr);
  }
  void Gauge(std::string name, std::string help, MetricValue auto value) {
    BeginGauges(std::move(name), std::move(help));
    AddValue(static_cast<double>(value), nullptr);
  }
  // Starts a family of values, or histograms, with one label each.
  void BeginCounters(std::string name, std::string help);
  void BeginGauges(std::string name, std::string help);
  void BeginHistograms(std::string name, std::string help);
  // Adds a value to the family that was started last. REQUIRES: there is one.
  void Add(MetricValue auto value, const MetricLabel& label) {
    AddValue(static_cast<double>(value), &label);
  }
  // `counts`: per bucket, not cumulative; the last bucket is above all `upper_bounds`. REQUIRES:
  // one more count than bounds.
  void Histogram(std::string name, std::string help, std::span<const double> upper_bounds,
                 std::span<const std::uint64_t> counts, double sum);
  // Adds a histogram to the family that was started last. REQUIRES: as Histogram(); it is a family
  // of histograms.
  void AddHistogram(std::span<const double> upper_bounds, std::span<const std::uint64_t> counts,
                    double sum, const MetricLabel& label);

  std::string Text() const;

 private:
  void AddValue(double value, const MetricLabel* label);
  void AddBuckets(std::span<const double> upper_bounds, std::span<const std::uint64_t> counts,
                  double sum, const MetricLabel* label);

  std::vector<prometheus::MetricFamily> families_;
};

// Adds the standard `process_…` metrics of this process.
void AddProcessMetrics(MetricsText& metrics);

}  // namespace fieldcost::serve

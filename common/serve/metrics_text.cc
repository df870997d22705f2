#include "common/serve/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "common/base/check.h"
#include "common/serve/process_facts.h"

namespace fieldcost::serve {

using prometheus::ClientMetric;
using prometheus::MetricType;

MetricsText::MetricsText() = default;
MetricsText::~MetricsText() = default;

void MetricsText::BeginCounters(std::string name, std::string help) {
  families_.push_back(
      {.name = std::move(name), .help = std::move(help), .type = MetricType::Counter});
}

void MetricsText::BeginGauges(std::string name, std::string help) {
  families_.push_back(
      {.name = std::move(name), .help = std::move(help), .type = MetricType::Gauge});
}

void MetricsText::BeginHistograms(std::string name, std::string help) {
  families_.push_back(
      {.name = std::move(name), .help = std::move(help), .type = MetricType::Histogram});
}

void MetricsText::AddValue(double value, const MetricLabel* label) {
  FIELDCOST_CHECK(!families_.empty());
  ClientMetric metric;
  if (label != nullptr) {
    metric.label.push_back({std::string(label->name), std::string(label->value)});
  }
  metric.counter.value = metric.gauge.value = value;
  families_.back().metric.push_back(std::move(metric));
}

void MetricsText::AddBuckets(std::span<const double> upper_bounds,
                             std::span<const std::uint64_t> counts, double sum,
                             const MetricLabel* label) {
  FIELDCOST_CHECK(counts.size() == upper_bounds.size() + 1);
  FIELDCOST_CHECK(!families_.empty() && families_.back().type == MetricType::Histogram);
  ClientMetric metric;
  if (label != nullptr) {
    metric.label.push_back({std::string(label->name), std::string(label->value)});
  }
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < upper_bounds.size(); ++i) {
    cumulative += counts[i];
    metric.histogram.bucket.push_back({cumulative, upper_bounds[i]});
  }
  metric.histogram.sample_count = cumulative + counts.back();
  metric.histogram.sample_sum = sum;
  families_.back().metric.push_back(std::move(metric));
}

void MetricsText::Histogram(std::string name, std::string help,
                            std::span<const double> upper_bounds,
                            std::span<const std::uint64_t> counts, double sum) {
  BeginHistograms(std::move(name), std::move(help));
  AddBuckets(upper_bounds, counts, sum, nullptr);
}

void MetricsText::AddHistogram(std::span<const double> upper_bounds,
                               std::span<const std::uint64_t> counts, double sum,
                               const MetricLabel& label) {
  AddBuckets(upper_bounds, counts, sum, &label);
}

std::string MetricsText::Text() const { return prometheus::TextSerializer().Serialize(families_); }

void AddProcessMetrics(MetricsText& metrics) {
  const ProcessFacts facts = ReadProcessFacts();
  metrics.Counter("process_cpu_seconds_total", "Time on CPUs, of user and system.",
                  facts.cpu_seconds);
  metrics.Gauge("process_resident_memory_bytes", "Resident memory.", facts.resident_bytes);
  metrics.Gauge("process_virtual_memory_bytes", "Virtual memory.", facts.virtual_bytes);
  metrics.Gauge("process_open_fds", "Open file descriptors.", facts.open_fds);
  metrics.Gauge("process_max_fds", "Limit of open file descriptors.", facts.max_fds);
  metrics.Gauge("process_start_time_seconds", "When the process started, in Unix time.",
                facts.start_seconds);
}

}  // namespace fieldcost::serve

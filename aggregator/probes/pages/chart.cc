#include "aggregator/probes/pages/chart.h"

#include <fmt/format.h>

namespace fieldcost::probe_server {

std::string OpenChart(const Chart& chart) {
  return fmt::format(
      R"(<svg class="chart" role="{0}" viewBox="0 0 {1} {2}" aria-label="{4}"><title>{3}</title>)"
      "<desc>{4}</desc>",
      chart.role, kChartWidth, chart.height, chart.title, chart.words);
}

}  // namespace fieldcost::probe_server

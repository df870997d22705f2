#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/fleet.h"

namespace fieldcost::fleet {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 320;
constexpr double kLeft = 60;
constexpr double kRight = 14;
constexpr double kTop = 40;
constexpr double kBottom = 44;
constexpr unsigned kDaysATick = 7;

constexpr char kStyle[] =
    "text{font:12px sans-serif;fill:#333}.axis{stroke:#999}.grid{stroke:#ddd}"
    ".load{fill:none;stroke:#0a6cbd}.lost{fill:none;stroke:#b9770e}"
    ".limit{stroke:#c0392b;stroke-dasharray:6 4}.outage{fill:#8886}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#888}.grid{stroke:#444}"
    ".load{stroke:#5cb3ff}.lost{stroke:#f0b04a}.limit{stroke:#ff7b6b}}";

// Returns a round number of requests, with at most five multiples below `most`.
double TickOf(double most) {
  double tick = 1;
  while (tick * 5 < most) {
    if (tick * 10 >= most) return tick * 2;
    if (tick * 25 >= most) return tick * 5;
    tick *= 10;
  }
  return tick;
}

}  // namespace

std::string DrawLoad(const FleetOptions& options, const FleetLoad& load) {
  const double hours = static_cast<double>(load.tries.size());
  const double limit = 2 * load.steady_mean;
  const double most =
      1.1 *
      std::max(limit, static_cast<double>(*std::max_element(load.tries.begin(), load.tries.end())));
  const auto x = [&](double hour) { return kLeft + (kWidth - kLeft - kRight) * hour / hours; };
  const auto y = [&](double count) {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * count / most;
  };
  const double down = options.steady_days * 24.0;
  const double up = down + options.outage_hours;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-labelledby=\"t d\">\n<title id=\"t\">Requests an hour of {2} agents around an outage "
      "of "
      "{3} hours</title>\n<desc id=\"d\">Simulated, seed {4}. Steady: {5:.0f} an hour on average, "
      "{6} "
      "in the busiest hour. After the outage: {7} in the busiest hour, {8:.2f} times the steady "
      "average.</desc>\n<style>{9}</style>\n",
      kWidth, kHeight, options.agents, options.outage_hours, options.seed, load.steady_mean,
      load.steady_peak, load.peak_after, static_cast<double>(load.peak_after) / load.steady_mean,
      kStyle);
  svg += fmt::format(
      "<rect class=\"outage\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      x(down), kTop, x(up) - x(down), kHeight - kTop - kBottom);
  const double tick = TickOf(most);
  for (double count = 0; count < most; count += tick) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.0f}</text>\n",
        kLeft, kWidth - kRight, y(count), kLeft - 6, y(count) + 4, count);
  }
  for (double day = 0; day * 24 <= hours; day += kDaysATick) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n",
                       x(day * 24), kHeight - kBottom + 18, day);
  }
  const auto line = [&](const char* name, double from, double to) {
    svg += fmt::format("<path class=\"{}\" d=\"M", name);
    for (double hour = from; hour < to; ++hour) {
      svg += fmt::format("{:.1f},{:.1f} ", x(hour),
                         y(static_cast<double>(load.tries[static_cast<std::size_t>(hour)])));
    }
    svg += "\"/>\n";
  };
  line("load", 0, down);
  line("lost", down, up);
  line("load", up, hours);
  svg += fmt::format(
      "<line class=\"limit\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n"
      "<text x=\"{1}\" y=\"{3:.1f}\" text-anchor=\"end\">twice the steady average</text>\n"
      "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{4}\" y2=\"{4}\"/>\n"
      "<text x=\"{5}\" y=\"20\">requests an hour</text>\n"
      "<text x=\"{6:.1f}\" y=\"{7}\" text-anchor=\"middle\">the server is down: these reach "
      "nobody</text>\n"
      "<text x=\"{8}\" y=\"{9}\" text-anchor=\"middle\">days</text>\n</svg>\n",
      kLeft, kWidth - kRight, y(limit), y(limit) - 6, kHeight - kBottom, 8.0, (x(down) + x(up)) / 2,
      kTop - 6, kWidth / 2, kHeight - 8);
  return svg;
}

}  // namespace fieldcost::fleet

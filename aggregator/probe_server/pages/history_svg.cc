#include "aggregator/probe_server/pages/history_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aggregator/probe_server/pages/page_numbers.h"
#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {
namespace {

// Vertical positions are pixels, horizontal ones percentages of the drawing's width.
constexpr double kHeight = 350;
constexpr double kBottom = 250;
constexpr double kTop = 20;
constexpr double kLeft = 12;          // percent
constexpr double kNarrowPlot = 250;   // pixels, on the narrowest screen
constexpr double kRoomForName = 18;   // pixels between two slanted names
constexpr std::size_t kMaxName = 13;  // letters
constexpr std::size_t kNameBegin = 6;
constexpr std::size_t kNameEnd = 6;
constexpr std::size_t kIdDigits = 8;  // of a long hexadecimal name: a commit or a build ID

void AddScale(draw::Html& html, double step, double top) {
  for (double value = 0; value <= top * 1.001; value += step) {
    const double y = kBottom - value / top * (kBottom - kTop);
    html
        .Raw(fmt::format(
            R"(<line x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}" class="spread" stroke-dasharray="2 4"/>)"
            R"(<text x="0" y="{1:.1f}">)",
            y, y - 4))
        .Text(TickText(value))
        .Raw("</text>");
  }
}

std::string WordsOf(const probe::BuildPoint& point) {
  return fmt::format("{}: {} ({} to {}), {} events",
                     point.build.empty() ? "(not named)" : point.build,
                     DurationText(point.median_ns), DurationText(point.low_ns),
                     DurationText(point.high_ns), point.events);
}

// A triangle up or down, so that direction is not shown by colour alone.
void AddMark(draw::Html& html, inference::Verdict change, double x, double y) {
  if (change != inference::Verdict::kMore && change != inference::Verdict::kLess) return;
  const bool is_slower = change == inference::Verdict::kMore;
  html.Raw(fmt::format(R"(<text x="{:.3f}%" y="{:.1f}" text-anchor="middle">{}</text>)", x,
                       is_slower ? y - 10 : y + 20, is_slower ? "▲" : "▼"));
}

// `is_wide`: too wide for a narrow screen.
void AddName(draw::Html& html, const std::string& build, double x, bool is_wide) {
  html.Raw(fmt::format(
               R"-(<svg x="{:.3f}%" y="{}" overflow="visible"><text transform="rotate(-65)" )-"
               R"-(text-anchor="end"{}>)-",
               x, kBottom + 18, is_wide ? R"( class="wide")" : ""))
      .Text(ShortBuild(build))
      .Raw("</text></svg>");
}

}  // namespace

std::string ShortBuild(const std::string& untrusted_build) {
  if (untrusted_build.empty()) return "(not named)";
  const bool is_id =
      untrusted_build.size() > kMaxName &&
      untrusted_build.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (is_id) return untrusted_build.substr(0, kIdDigits);
  std::vector<std::size_t> letters;  // where they begin
  for (std::size_t i = 0; i < untrusted_build.size(); ++i) {
    if ((static_cast<unsigned char>(untrusted_build[i]) & 0xc0U) != 0x80U) letters.push_back(i);
  }
  if (letters.size() <= kMaxName) return untrusted_build;
  return untrusted_build.substr(0, letters[kNameBegin]) + "…" +
         untrusted_build.substr(letters[letters.size() - kNameEnd]);
}

std::string HistorySvg(std::span<const probe::BuildPoint> all) {
  const auto builds = all.subspan(all.size() - std::min(all.size(), kMaxDrawnBuilds));
  double most = 1;
  for (const probe::BuildPoint& point : builds) {
    most = std::max({most, point.high_ns, point.median_ns});
  }
  const double step = TickStep(most);
  const double top = std::ceil(most / step) * step;
  draw::Html html;
  html.Raw(fmt::format(R"(<svg class="chart" role="img" width="100%" height="{}" aria-label=")"
                       R"(Time over builds"><title>Time over builds</title><desc>)",
                       kHeight))
      .Raw(
          "Median time over builds, from left to right, with quartiles; a triangle up: slower than "
          "the build before, down: faster. The table has the numbers.</desc>");
  AddScale(html, step, top);
  const double pitch = (100 - kLeft) / static_cast<double>(builds.size());
  const auto every = static_cast<std::size_t>(
      std::ceil(kRoomForName * static_cast<double>(builds.size()) / kNarrowPlot));
  const auto y_of = [top](double ns) { return kBottom - ns / top * (kBottom - kTop); };
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const probe::BuildPoint& point = builds[i];
    const double x = kLeft + (static_cast<double>(i) + 0.5) * pitch;
    const double y = y_of(point.median_ns);
    html
        .Raw(fmt::format(
            R"(<line x1="{0:.3f}%" x2="{0:.3f}%" y1="{1:.1f}" y2="{2:.1f}" class="spread" stroke-width="5"/>)"
            R"(<circle cx="{0:.3f}%" cy="{3:.1f}" r="6" class="middle"><title>)",
            x, y_of(point.low_ns), y_of(point.high_ns), y))
        .Text(WordsOf(point))
        .Raw("</title></circle>");
    AddMark(html, point.change.change, x, y);
    AddName(html, point.build, x, (builds.size() - 1 - i) % every != 0);
  }
  return html.Raw("</svg>\n").Take();
}

}  // namespace fieldcost::probe_server

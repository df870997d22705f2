#include "tools/report/idle/idle_svg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "common/draw/html.h"
#include "tools/report/idle/idle_text.h"

namespace fieldcost::report {
namespace {

constexpr unsigned kTimelineHeight = 100;

// Indexed like CpuIdle::by_why. Warm colours: a program can influence it; grey: there is no stack.
constexpr std::array<std::string_view, idle::kWhys + 1> kReasonColors = {
    "#c8452d", "#3b7dd8", "#7ab8e8", "#2f9e6e", "#b565a7", "#e3c33c", "#e8853b",
    "#6f4fb3", "#8a6d4b", "#5b8f8f", "#b9b9c2", "#8d8d98", "#5f5f6a", "#3f3f48"};

// One column per bin, stacked on the reasons below.
std::string ReasonPath(const analysis::IdleTimeline& timeline,
                       const analysis::IdleTimeline::Cpu& cpu, std::size_t why) {
  std::string path;
  const std::size_t count = cpu.bins.size();
  for (std::size_t i = 0; i < count; ++i) {
    const analysis::IdleTimeline::Bin& bin = cpu.bins[i];
    if (bin.at(why) == 0) continue;
    const std::uint64_t bin_ns = timeline.EdgeNs(i + 1, count) - timeline.EdgeNs(i, count);
    const double scale =
        kTimelineHeight / (static_cast<double>(bin_ns) * static_cast<double>(timeline.parts));
    double below = 0;
    for (std::size_t other = 0; other < why; ++other) below += static_cast<double>(bin.at(other));
    path += fmt::format("M{} {:.2f}h1v-{:.2f}h-1z", i, kTimelineHeight - below * scale,
                        static_cast<double>(bin.at(why)) * scale);
  }
  return path;
}

}  // namespace

std::string IdleTimelineSvg(const analysis::IdleTimeline& timeline,
                            const analysis::IdleTimeline::Cpu& bins, const analysis::CpuIdle& cpu) {
  std::string svg = fmt::format(
      "<svg role=\"img\" aria-label=\"CPU {} over time: {}\" viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\">",
      cpu.cpu, fmt::join(ReasonTexts(cpu), ", "), bins.bins.size(), kTimelineHeight);
  for (std::size_t why = 0; why < kReasonColors.size(); ++why) {
    const std::string path = ReasonPath(timeline, bins, why);
    if (path.empty()) continue;
    svg += fmt::format("<g><title>{2}</title><path fill=\"{0}\" d=\"{1}\"/></g>",
                       kReasonColors.at(why), path, analysis::WhyText(why));
  }
  return svg + "</svg>";
}

std::string IdleLegendHtml(const analysis::CpuIdle& all) {
  std::string html = "<p class=\"soft legend\">";
  for (std::size_t why = 0; why < kReasonColors.size(); ++why) {
    if (all.by_why.at(why) == 0) continue;
    html += fmt::format(
        "<span><svg aria-hidden=\"true\" width=\"16\" height=\"16\" viewBox=\"0 0 16 16\"><path "
        "fill=\"{}\" d=\"M0 0h16v16h-16z\"/></svg>{}</span> ",
        kReasonColors.at(why), analysis::WhyText(why));
  }
  return html + "</p>\n";
}

}  // namespace fieldcost::report

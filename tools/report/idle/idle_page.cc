#include "tools/report/idle/idle_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg.h"
#include "common/shm/log2_bucket.h"
#include "tools/analysis/idle_matrix.h"
#include "tools/analysis/tree_view.h"
#include "tools/report/idle/idle_svg.h"
#include "tools/report/idle/idle_text.h"
#include "tools/report/page.h"
#include "tools/report/page_assets.h"
#include "tools/report/tree/page_data.h"
#include "tools/report/tree/tree_svg.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::CpuIdle;
using analysis::IdleView;
using draw::EscapeHtml;

const draw::Style kPageStyle{.utf8 = true};

std::string TimeText(std::uint64_t ns) { return IdleTimeText(ns, kPageStyle); }

std::string LengthText(std::uint64_t ns) {
  return draw::FormatCost(static_cast<double>(ns), stats::Metric::kWallTime, kPageStyle);
}

double ShareOf(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string HeadHtml(const IdlePage& page) {
  std::string html = "<h1>Why CPUs were idle</h1>\n";
  std::istringstream lines(IdleHeading(page.view, kPageStyle));
  bool is_first = true;
  for (std::string line; std::getline(lines, line); is_first = false) {
    html += fmt::format("<p class=\"{}\">{}</p>\n", is_first ? "lead" : "soft", EscapeHtml(line));
  }
  html += fmt::format("<p class=\"soft\">Shown: <code>{}</code></p>\n",
                      EscapeHtml(page.untrusted_operand));
  for (const std::string& remark : page.untrusted_remarks) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", EscapeHtml(remark));
  }
  return html;
}

std::string TimelineHtml(const IdlePage& page) {
  if (!page.timeline) return "";
  std::string html =
      "<section aria-labelledby=\"over-time\">\n<h2 id=\"over-time\">Over time</h2>\n"
      "<p class=\"soft\">One line per CPU. Its height is the share of time in which the CPU was "
      "idle. All runs are combined, each aligned to its start.</p>\n" +
      IdleLegendHtml(page.view.all);
  if (page.timeline->has_more) {
    html +=
        fmt::format("<p class=\"soft\">Only {} CPUs are shown.</p>\n", page.timeline->cpus.size());
  }
  for (const analysis::IdleTimeline::Cpu& bins : page.timeline->cpus) {
    const auto cpu = std::ranges::find(page.view.cpus, bins.cpu, &CpuIdle::cpu);
    if (cpu == page.view.cpus.end()) continue;
    html += fmt::format("<div class=\"cpu\"><span>CPU {}</span>{}</div>\n", bins.cpu,
                        IdleTimelineSvg(*page.timeline, bins, *cpu));
  }
  return html + fmt::format(
                    "<div class=\"cpu axis\"><span></span><span><span>{}</span>"
                    "<span>{}</span></span></div>\n</section>\n",
                    TimeText(page.begin_ns), TimeText(page.begin_ns + page.timeline->length_ns));
}

// The table is a landmark itself, so its name must differ from that of its section.
std::string SectionOf(std::string_view heading, const PageTable& table) {
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                     table.id, heading, TableHtml(table));
}

std::string CpusHtml(const IdleView& view) {
  PageTable table{
      .id = "cpus",
      .title = "Table of CPUs",
      .caption =
          "Measured idle time, idle time according to /proc/stat, and the share of the "
          "measured time that is explained by a stack.",
      .columns = {{.heading = "CPU", .kind = ColumnKind::kName},
                  {.heading = "Idle", .kind = ColumnKind::kNumber},
                  {.heading = "/proc/stat", .kind = ColumnKind::kNumber, .drop_if_same = true},
                  {.heading = "Explained", .kind = ColumnKind::kNumber},
                  {.heading = "Why"}},
      .lines = {}};
  const auto add = [&](const std::string& name, const CpuIdle& cpu) {
    table.lines.push_back({name, TimeText(cpu.idle_ns),
                           cpu.stat_idle_ns ? TimeText(*cpu.stat_idle_ns) : "",
                           draw::ShareText(cpu.explained_ns, cpu.idle_ns),
                           fmt::format("<small>{}</small>", fmt::join(ReasonTexts(cpu), ", "))});
  };
  for (const CpuIdle& cpu : view.cpus) add(fmt::format("{}", cpu.cpu), cpu);
  if (view.cpus.size() != 1 || view.no_cpu_ns != 0) add("all", view.all);
  return SectionOf("CPUs", table);
}

struct Side {
  std::string_view id;
  std::string_view heading;
  const std::optional<tree::MeanTree>& tree;
};

std::string GraphHtml(const Side& side) {
  return fmt::format(
      "<section aria-labelledby=\"{0}-heading\">\n<h3 id=\"{0}-heading\">{1}</h3>\n"
      "<div class=\"graph\" id=\"{0}-graph\"><div id=\"{0}-spacer\"><canvas id=\"{0}-picture\" "
      "tabindex=\"0\" role=\"application\" aria-label=\"{1}: flame graph\" "
      "aria-describedby=\"flame-help\"></canvas></div></div>\n"
      "<p class=\"hovered\" id=\"{0}-hovered\" aria-hidden=\"true\"></p>\n"
      "<p class=\"unseen\" id=\"{0}-told\" role=\"status\"></p>\n</section>\n",
      side.id, side.heading);
}

std::string StillHtml(const Side& side) {
  return fmt::format(
      "<h3>{0}</h3>\n<div class=\"flame\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\">{1}"
      "</div>\n",
      side.heading, TreeSvgInPage(analysis::TopDown(*side.tree, 0), {}));
}

std::string StacksHtml(const IdlePage& page) {
  const std::array<Side, 2> sides = {
      {{"to", "What left CPUs idle", page.to}, {"from", "What ended the idle periods", page.from}}};
  std::string graphs;
  std::string still;
  std::string data;
  for (const Side& side : sides) {
    if (!side.tree) continue;
    graphs += GraphHtml(side);
    still += StillHtml(side);
    data += TreePageData(
        {.tree = *side.tree, .untrusted_operand = page.untrusted_operand, .untrusted_file = ""},
        fmt::format("{}-tree", side.id));
  }
  return "<section aria-labelledby=\"stacks\">\n<h2 id=\"stacks\">Stacks</h2>\n<p class=\"soft\" "
         "id=\"flame-help\">Callers are above their callees; the reason for waiting comes last. "
         "Click or press Enter to zoom; Escape shows everything again. The arrow keys move up "
         "to the caller, down to the most expensive callee, and left and right.</p>\n"
         "<div id=\"app\" hidden>\n<div class=\"controls\">\n<label>Search <input type=\"search\" "
         "id=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n"
         "<button type=\"button\" id=\"reset\">Reset</button>\n</div>\n<div class=\"sides\">\n" +
         graphs + "</div>\n</div>\n<noscript>\n" + still + "</noscript>\n</section>\n" + data;
}

std::string DoingHtml(const IdleView& view, const std::optional<analysis::Doing>& doing) {
  if (!doing) return "all others";
  const std::string text = analysis::DoingText(*view.dictionary, *doing);
  return text.empty() ? "unknown" : EscapeHtml(text);
}

// The level on the flame graphs' colour scale: the last applies from half of the whole on, each one
// before it from half of the next one's minimum.
unsigned ScaleOf(std::uint64_t part, std::uint64_t whole) {
  const int last = static_cast<int>(ScaleColors().size()) - 1;
  const int step = last + 1 + static_cast<int>(std::floor(std::log2(ShareOf(part, whole))));
  return static_cast<unsigned>(std::clamp(step, 0, last));
}

std::string MatrixHtml(const IdleView& view) {
  const analysis::IdleMatrix matrix =
      analysis::MakeIdleMatrix(view, kIdlePageLines, kIdlePageColumns);
  if (matrix.to.empty()) return "";
  std::string html =
      "<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\">Idle time between threads</h2>\n"
      "<div class=\"scroll matrix\" role=\"region\" aria-label=\"Matrix\" tabindex=\"0\">\n"
      "<table class=\"stacked\">\n<caption>Rows: the thread that left the CPU idle, and why it "
      "stopped. "
      "Columns: the thread that ran there next, and why it had been waiting. Brighter cells hold "
      "more time: yellow is at least half of the total, and each darker step is half of the one "
      "before.</caption>\n<thead><tr><th scope=\"col\">Left idle by</th>";
  for (const auto& from : matrix.from) {
    html += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", DoingHtml(view, from));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t line = 0; line < matrix.to.size(); ++line) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", DoingHtml(view, matrix.to[line]));
    for (std::size_t column = 0; column < matrix.from.size(); ++column) {
      const std::uint64_t ns = matrix.ns[line][column];
      html += ns == 0 ? "<td></td>"
                      : fmt::format("<td class=\"n s{}\" data-label=\"{}\">{}</td>",
                                    ScaleOf(ns, view.all_pairs.ns),
                                    DoingHtml(view, matrix.from[column]), TimeText(ns));
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n</section>\n";
}

std::string ChainsHtml(const IdleView& view) {
  if (view.pairs.empty()) return "<p>No explained idle period has ended.</p>\n";
  const std::size_t count = std::min(view.pairs.size(), kIdlePageChains);
  const auto range = draw::FindUsedSlots(LengthBars(view.all_pairs));
  PageTable table{
      .id = "chains",
      .title = "Table of chains",
      .caption = fmt::format("The {} of {} pairs of stacks that explain the most idle time. "
                             "Lengths of idle periods from {} (left) to {}; height: number of "
                             "periods.",
                             draw::FormatCount(count), draw::FormatCount(view.pairs.size()),
                             LengthText(shm::SlotMin(range->first)),
                             LengthText(shm::SlotMax(range->last))),
      .columns = {{.heading = "Chain", .kind = ColumnKind::kName},
                  {.heading = "Lengths", .kind = ColumnKind::kPicture},
                  {.heading = "Share", .kind = ColumnKind::kNumber},
                  {.heading = "Time", .kind = ColumnKind::kNumber},
                  {.heading = "Periods", .kind = ColumnKind::kNumber}},
      .lines = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const analysis::IdlePair& pair = view.pairs[i];
    const std::vector<std::string> pieces = ChainPieces(view, pair);
    std::string below;
    for (std::size_t k = 1; k < pieces.size(); ++k) below += (k == 1 ? "" : " ") + pieces[k];
    table.lines.push_back(
        {NameHtml(pieces[0], "", below),
         draw::SpectrumSvgOver(LengthBars(pair), *range, stats::Metric::kWallTime),
         draw::ShareText(pair.ns, view.all_pairs.ns), TimeText(pair.ns),
         draw::FormatCount(pair.periods)});
  }
  return SectionOf("Chains", table);
}

}  // namespace

std::string IdlePageHtml(const IdlePage& page) {
  const std::array<draw::PageAsset, 2> styles = {kTreePageStyle, kIdlePageStyle};
  const std::array<draw::PageAsset, 1> scripts = {kIdlePageScript};
  std::string html =
      PageBegin(fmt::format("Idle CPUs: {}", page.untrusted_operand), styles, scripts);
  html += "<main>\n" + HeadHtml(page) + TimelineHtml(page) + CpusHtml(page.view) +
          StacksHtml(page) + MatrixHtml(page.view) + ChainsHtml(page.view) + "</main>\n";
  for (const draw::PageAsset& script : scripts) html += ScriptHtml(script);
  return html + PageEnd();
}

}  // namespace fieldcost::report

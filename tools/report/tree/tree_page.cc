#include "tools/report/tree/tree_page.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "common/draw/html.h"
#include "tools/analysis/tree_view.h"
#include "tools/report/page.h"
#include "tools/report/page_assets.h"
#include "tools/report/tree/colors.h"
#include "tools/report/tree/page_data.h"
#include "tools/report/tree/tree_diff_text.h"
#include "tools/report/tree/tree_svg.h"

namespace fieldcost::report {
namespace {

constexpr std::string_view kMetric = R"(<div class="controls">
<label>Metric <select id="metric"></select></label>
)";

constexpr std::string_view kThread = R"(<label>Thread <select id="thread"></select></label>
)";

constexpr std::string_view kControls =
    R"(<label>Search <input type="search" id="search" autocomplete="off" spellcheck="false"></label>
<output id="found" for="search"></output>
<button type="button" id="reset">Reset</button>
</div>
<p>Shown: <code id="operand"></code>. <span id="total"></span></p>
)";

constexpr std::string_view kTimeline = R"(<section aria-labelledby="over-time">
<h2 id="over-time">Over time</h2>
<p class="soft">All runs together, each from its start. Drag over an interval to see its tree, or move its ends; a
click shows everything. Intervals begin and end where bars do, so that all sums are exact.</p>
<div id="timeline" role="img" aria-label="Cost over time; the sliders From and To choose an interval"></div>
<div class="ends"><label>From <input type="range" id="from" min="0" value="0"></label>
<label>To <input type="range" id="to" min="0" value="0"></label></div>
</section>
)";

constexpr std::string_view kFlame = R"(<section aria-labelledby="flame-graph">
<h2 id="flame-graph">Flame graph</h2>
<p class="soft" id="flame-help">Callers are above what they call. Click, or press Enter, to zoom; Escape shows everything
again. Arrow keys go up to the caller, down to the most expensive callee, and to the left and right.</p>
<div id="flame"><div id="spacer"><canvas id="picture" tabindex="0" role="application" aria-label="Flame graph"
 aria-describedby="flame-help"></canvas></div></div>
<p class="hovered" id="hovered" aria-hidden="true"></p>
<p class="unseen" id="told" role="status"></p>
)";

// A rectangle of this colour, as in the picture.
std::string Swatch(std::string_view fill, std::string_view more = "") {
  return fmt::format(
      "<svg aria-hidden=\"true\" width=\"16\" height=\"16\" viewBox=\"0 0 16 16\"><rect "
      "width=\"16\" height=\"16\" fill=\"{}\"/>{}</svg>",
      fill, more);
}

std::string ScaleLegend() {
  std::string html = "<p class=\"soft legend\">Self cost: less ";
  for (const std::string& color : ScaleColors()) html += Swatch(color);
  return html + "half of the whole or more. Each step doubles.</p>\n";
}

std::string DifferenceLegend() {
  const auto entry = [](const std::string& swatch, std::string_view text) {
    return fmt::format("<span>{}{}</span> ", swatch, text);
  };
  return "<p class=\"soft legend\">A frame is as wide as the greater of old and new. " +
         entry(Swatch(kHeat.back().more), "more") + entry(Swatch(kHeat.back().less), "less") +
         entry(Swatch(kSameColor), "the same") + entry(Swatch(kUncertainColor), "not certain") +
         entry(Swatch(kGoneGround, fmt::format("<path d=\"M0 16L16 0M-4 4L4 -4M12 20L20 12\" "
                                               "stroke=\"{}\" stroke-width=\"3\"/>",
                                               kGoneStripe)),
               "gone") +
         entry(Swatch(kSameColor,
                      "<rect x=\"1\" y=\"1\" width=\"14\" height=\"14\" fill=\"none\" "
                      "stroke=\"#111\" stroke-width=\"2\"/>"),
               "new") +
         "</p>\n";
}

std::string HeaviestHtml(bool is_difference) {
  std::string html =
      "<section aria-labelledby=\"heaviest-paths\">\n"
      "<h2 id=\"heaviest-paths\">";
  html += is_difference ? "Paths whose self cost changed most" : "Paths with the highest self cost";
  html +=
      "<span id=\"within\"></span></h2>\n<div class=\"scroll\" "
      "role=\"region\" aria-label=\"Table of paths\" tabindex=\"0\">\n<table "
      "class=\"stacked\">\n<thead><tr>"
      "<th scope=\"col\">Path</th>";
  const auto column = [&html](std::string_view heading) {
    html += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", heading);
  };
  if (is_difference) {
    for (const char* heading : {"Self old", "Self new", "Change", "With callees"}) {
      column(heading);
    }
  } else {
    for (const char* heading : {"Share", "Self", "With callees"}) column(heading);
  }
  return html + "</tr></thead>\n<tbody id=\"heaviest\"></tbody>\n</table>\n</div>\n</section>\n";
}

std::vector<bool> UncertainOf(const TreePage& page, const analysis::TreeView& view) {
  if (page.metric >= page.comparisons.size()) return {};
  std::vector<bool> uncertain;
  for (const std::string& mark : MarksOf(page.comparisons[page.metric], view)) {
    uncertain.push_back(mark.empty());
  }
  return uncertain;
}

// The page's content without scripts: the picture as SVG.
std::string StillHtml(const TreePage& page) {
  const analysis::TreeView view = analysis::TopDown(page.tree, page.metric);
  return fmt::format(
      "<noscript>\n<p>{}. Zoom, search and the timeline need scripts; this is the whole tree.</p>\n"
      "<div class=\"flame\" role=\"region\" aria-label=\"Flame graph\" tabindex=\"0\">{}</div>\n"
      "</noscript>\n",
      draw::EscapeHtml(page.untrusted_operand), TreeSvgInPage(view, UncertainOf(page, view)));
}

}  // namespace

std::string TreePageHtml(const TreePage& page) {
  const bool is_difference = page.tree.runs_before != 0;
  const std::string_view title = is_difference ? "Call trees compared" : "Call tree";
  const std::array<draw::PageAsset, 2> styles = {kUplotStyle, kTreePageStyle};
  const std::array<draw::PageAsset, 2> scripts = {kUplotScript, kTreePageScript};
  std::string html =
      PageBegin(fmt::format("{}: {}", title, page.untrusted_operand), styles, scripts);
  html += fmt::format("<main>\n<h1>{}</h1>\n", title);
  for (const std::string& remark : page.untrusted_remarks) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", draw::EscapeHtml(remark));
  }
  html += StillHtml(page);
  html += "<div id=\"app\" hidden>\n";
  html += kMetric;
  if (page.timeline && !page.timeline->threads.empty()) html += kThread;
  html += kControls;
  if (page.timeline) html += kTimeline;
  html += kFlame;
  html += is_difference ? DifferenceLegend() : ScaleLegend();
  html += "</section>\n" + HeaviestHtml(is_difference) + "</div>\n</main>\n";
  html += TreePageData(page);
  for (const draw::PageAsset& script : scripts) html += ScriptHtml(script);
  return html + PageEnd();
}

}  // namespace fieldcost::report

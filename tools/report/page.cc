#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/draw/html.h"
#include "common/draw/svg.h"
#include "tools/report/page_assets.h"

namespace fieldcost::report {
namespace {

std::string_view ClassOf(ColumnKind kind) {
  if (kind == ColumnKind::kNumber) return " class=\"n\"";
  if (kind == ColumnKind::kPicture) return " class=\"picture\"";
  return "";
}

bool IsSame(const PageTable& table, std::size_t column) {
  return std::ranges::all_of(table.lines, [&](const std::vector<std::string>& line) {
    return line[column] == table.lines.front()[column];
  });
}

std::string CellHtml(const PageColumn& column, const std::string& cell) {
  if (column.kind == ColumnKind::kName) return fmt::format("<th scope=\"row\">{}</th>", cell);
  return fmt::format("<td{} data-label=\"{}\">{}</td>", ClassOf(column.kind),
                     column.label.empty() ? column.heading : column.label, cell);
}

std::string TableIn(const PageTable& table, std::string_view label) {
  std::vector<bool> shown;
  std::string same;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool drop = table.columns[i].drop_if_same && table.lines.size() > 1 && IsSame(table, i);
    shown.push_back(!drop);
    if (drop && !table.lines[0][i].empty()) {
      same += fmt::format(" {} of all: {}.", table.columns[i].heading, table.lines[0][i]);
    }
  }
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" {} tabindex=\"0\">\n<table "
      "class=\"stacked\">\n<caption>{}{}</caption>\n"
      "<thead><tr>",
      label, table.caption, same);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const PageColumn& column = table.columns[i];
    if (!shown[i]) continue;
    html += fmt::format("<th scope=\"col\"{}>{}</th>", ClassOf(column.kind), column.heading);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& line : table.lines) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (shown[i]) html += CellHtml(table.columns[i], line[i]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

// The source expression of a content security policy.
std::string SourceOf(std::string_view hash) { return fmt::format("'sha256-{}'", hash); }

std::string Head(std::string_view untrusted_title, std::string_view style_sources,
                 std::string_view more_policy, std::string_view style_html) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {};{}"
      " base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      style_sources, more_policy, draw::EscapeHtml(untrusted_title), style_html);
}

}  // namespace

std::string PageBegin(std::string_view untrusted_title, Pictures pictures) {
  return Head(untrusted_title, SourceOf(kPageStyle.hash),
              pictures == Pictures::kBeside ? " img-src 'self' file:;" : "", kPageStyle.text);
}

std::string PageBegin(std::string_view untrusted_title, std::span<const draw::PageAsset> styles,
                      std::span<const draw::PageAsset> scripts, Scripts kind) {
  std::string style_sources = SourceOf(kPageStyle.hash);
  std::string style_html(kPageStyle.text);
  for (const draw::PageAsset& style : styles) {
    style_sources += " " + SourceOf(style.hash);
    style_html += fmt::format("</style>\n<style>{}", style.text);
  }
  std::string script_sources;
  for (const draw::PageAsset& script : scripts) script_sources += " " + SourceOf(script.hash);
  // 'self' matches no file in some browsers.
  if (kind == Scripts::kLoadOthers) script_sources += " 'strict-dynamic'";
  return Head(untrusted_title, style_sources, fmt::format(" script-src{};", script_sources),
              style_html);
}

std::string ScriptHtml(const draw::PageAsset& script) {
  return fmt::format("<script>{}</script>\n", script.text);
}

std::string PageEnd() { return "</body>\n</html>\n"; }

std::string TableHtml(const PageTable& table) {
  return TableIn(table, fmt::format("aria-label=\"{}\"", table.title));
}

std::string SectionHtml(const PageTable& table) {
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                     table.id, table.title,
                     TableIn(table, fmt::format("aria-labelledby=\"{}\"", table.id)));
}

std::string FoldedHtml(std::string_view summary, const PageTable& table) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, TableHtml(table));
}

std::string NameHtml(std::string_view untrusted_name, std::string_view link,
                     std::string_view untrusted_below) {
  const std::string name = draw::EscapeHtml(untrusted_name);
  std::string html = link.empty()
                         ? fmt::format("<span class=\"name\" title=\"{0}\">{0}</span>", name)
                         : fmt::format("<a class=\"name\" title=\"{0}\" href=\"{1}\">{0}</a>", name,
                                       draw::EscapeHtml(link));
  if (!untrusted_below.empty()) {
    html += fmt::format("<small>{}</small>", draw::EscapeHtml(untrusted_below));
  }
  return html;
}

void SpectrumScale::Add(const draw::Bars& bars, stats::Metric metric) {
  const auto used = draw::FindUsedSlots(bars);
  if (!used) return;
  const auto [place, is_new] = by_unit_.try_emplace(stats::Unit(metric), Scale{*used, metric});
  if (!is_new) place->second.range = *draw::Join(place->second.range, used);
}

PageColumn SpectrumScale::Column() const {
  PageColumn column{.heading = "Spectrum", .kind = ColumnKind::kPicture, .label = "Spectrum"};
  auto chosen = by_unit_.find(stats::Unit(stats::Metric::kWallTime));
  if (chosen == by_unit_.end()) chosen = by_unit_.begin();
  if (chosen != by_unit_.end()) {
    column.heading += draw::SpectrumScaleSvg(chosen->second.range, chosen->second.metric);
  }
  return column;
}

std::string SpectrumScale::Words() const {
  return fmt::format(
      "from cheap (left, dark blue) to expensive (right, yellow), height = how often; {}.",
      by_unit_.size() > 1 ? "each unit on one scale, that of times is shown" : "all on one scale");
}

std::string SpectrumScale::Cell(const draw::Bars& bars, stats::Metric metric) const {
  const auto scale = by_unit_.find(stats::Unit(metric));
  return scale == by_unit_.end() ? "" : draw::SpectrumSvgOver(bars, scale->second.range, metric);
}

}  // namespace fieldcost::report

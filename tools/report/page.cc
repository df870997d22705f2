#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/draw/html.h"
#include "common/draw/svg.h"

namespace fieldcost::report {
namespace {

// On paper, the font is as large as a table of eleven columns allows on A4.
constexpr std::string_view kCss = R"css(
:root{color-scheme:light dark;--ink:#1b1b1f;--paper:#fff;--soft:#55555f;--line:#d4d4dc;--panel:#f5f5f8;--link:#1a4fa3;--warn:#8a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8ee;--paper:#16161a;--soft:#ababb8;--line:#3a3a45;--panel:#202027;--link:#8ab4ff;--warn:#ffc27a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:84rem;padding:1.5rem;font:1rem/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink)}
h1{font-size:1.6rem;line-height:1.25;margin:0}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:0}h4{margin:1rem 0 .25rem}
h1,h2,h3,p,dd,caption,code{overflow-wrap:anywhere}
p{margin:.4rem 0}.soft{color:var(--soft);font-size:.9rem}.lead{font-size:1.15rem;font-weight:600;margin:.8rem 0}.warn{color:var(--warn);border:2px solid;padding:.5rem 1rem;font-weight:700}a{color:var(--link)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:0}dt{color:var(--soft)}dd{margin:0}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--soft);font-size:.9rem;padding-bottom:.4rem}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
.n{text-align:right}small{display:block;color:var(--soft);font-weight:400;white-space:normal;overflow-wrap:anywhere}
.name{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}th[scope=row]{max-width:18rem}th[scope=row] small{max-width:18rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem;align-items:start}
article{padding:1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--panel);min-width:0;margin-bottom:1rem}.cards article{margin:0}.picture div+div{margin-top:.25rem}
svg,img{max-width:100%;height:auto}svg{vertical-align:top}rect{stroke:var(--soft);stroke-width:.5}.flame{overflow-x:auto}.flame svg{min-width:60rem;width:100%}.flame text{fill:#111;pointer-events:none}.flame .worse{stroke:var(--ink);stroke-width:2}th svg{display:block}summary{cursor:pointer;color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
@media screen and (max-width:600px){
body{padding:1rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}
table,caption,thead,tbody,tr,th,td{display:block}thead th{display:none}thead th.picture{display:block;border:0}
tr{border-bottom:2px solid var(--line);padding:.4rem 0}th,td{border:0;padding:.1rem 0;white-space:normal}th[scope=row],th[scope=row] small{max-width:100%}
td[data-label]{display:flex;justify-content:space-between;gap:1rem;text-align:right;overflow-wrap:anywhere}td[data-label]::before{content:attr(data-label);color:var(--soft);text-align:left;flex:none}td.picture{display:block;text-align:left}td.picture::before{display:none}td:empty{display:none}
}
@page{margin:1.5cm}
@media print{
:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#444;--line:#999;--panel:#fff;--link:#000;--warn:#000}
:root{font-size:8pt}body{max-width:none;padding:0}.scroll{overflow:visible}th,td{padding-right:.5rem}th{white-space:normal}th[scope=row],th[scope=row] small{max-width:11rem}.picture svg{max-width:8rem}
thead{display:table-header-group}tr,article{break-inside:avoid}h2,h3{break-after:avoid}h2{margin-top:1rem}
.cards{grid-template-columns:1fr 1fr;gap:.5rem}article{padding:.5rem}
rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
)css";

// SHA-256 of the above in base64: the only style that the page's policy permits.
constexpr std::string_view kCssHash = "fiYY/t9wVw34wqpxpR/QLytEXAxy5bE/bSGkQcblvh0=";

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
      "<div class=\"scroll\" role=\"region\" {} tabindex=\"0\">\n<table>\n<caption>{}{}</caption>\n"
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
  return Head(untrusted_title, SourceOf(kCssHash),
              pictures == Pictures::kBeside ? " img-src 'self' file:;" : "", kCss);
}

std::string PageBegin(std::string_view untrusted_title, std::span<const PageAsset> styles,
                      std::span<const PageAsset> scripts) {
  std::string style_sources = SourceOf(kCssHash);
  std::string style_html(kCss);
  for (const PageAsset& style : styles) {
    style_sources += " " + SourceOf(style.hash);
    style_html += fmt::format("</style>\n<style>{}", style.text);
  }
  std::string script_sources;
  for (const PageAsset& script : scripts) script_sources += " " + SourceOf(script.hash);
  return Head(untrusted_title, style_sources, fmt::format(" script-src{};", script_sources),
              style_html);
}

std::string ScriptHtml(const PageAsset& script) {
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

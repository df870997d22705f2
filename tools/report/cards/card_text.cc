#include "tools/report/cards/card_text.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/draw/terminal.h"
#include "common/draw/text_table.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {
namespace {

// Characters with a meaning in some dialect of Markdown; ':', '.' and '@' could create links.
constexpr std::string_view kSpecial = "\\`*_{}[]()#+!|~.:@";

constexpr std::size_t kPageWidth = 73;  // of text in a manual page on an 80-column terminal
constexpr std::size_t kLeastCardVersion = 16;

// The URL for use in "<...>", where it ends only at '>'.
std::string MarkdownUrl(std::string_view untrusted_url) {
  std::string url;
  for (const char c : untrusted_url) {
    if (c <= ' ' || c == '<' || c == '>' || c == '\\' || c == '\x7f') {
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      url += c;
    }
  }
  return url;
}

}  // namespace

std::string EscapeMarkdown(std::string_view untrusted_text) {
  std::string markdown;
  for (const char c : EscapeControl(untrusted_text)) {
    if (c == '<' || c == '>' || c == '&' || c == '"') {
      markdown += draw::EscapeHtml(std::string_view(&c, 1));
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) markdown += '\\';
    markdown += c;
  }
  return markdown;
}

std::string EscapeRoff(std::string_view untrusted_text) {
  std::string roff;
  for (const char c : EscapeControl(untrusted_text)) {
    switch (c) {
      case '\\':
        roff += "\\e";
        break;
      case '-':
        roff += "\\-";
        break;
      case '"':
        roff += "\\(dq";
        break;
      case '\'':
        roff += "\\(aq";
        break;
      case '`':
        roff += "\\(ga";
        break;
      case '^':
        roff += "\\(ha";
        break;
      case '~':
        roff += "\\(ti";
        break;
      case '|':
        roff += "\\(ba";
        break;
      default:
        roff += c;
    }
  }
  return roff;
}

std::string CardMarkdown(const CostCard& card, const CardPictures& pictures) {
  const CardWords words = WordsOf(card);
  std::string markdown = fmt::format("## Cost of {}\n\n", EscapeMarkdown(words.name));
  if (card.provenance.synthetic) markdown += fmt::format("**{}**\n\n", kSyntheticWords);
  if (!pictures.light.empty()) {
    markdown +=
        fmt::format("![{}](<{}>)\n\n", EscapeMarkdown(words.sentence), MarkdownUrl(pictures.light));
  }
  markdown += fmt::format(
      "{}\n\n| Version | p50 | p95 | p99 | Mean | Calls timed | Contributions |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n",
      EscapeMarkdown(words.subject));
  for (const CardLine& line : words.lines) {
    markdown +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", EscapeMarkdown(line.version),
                    line.p50, line.p95, line.p99, line.mean, line.count, line.contributions);
  }
  markdown += fmt::format("\n{}\n", EscapeMarkdown(words.footer + std::string(kBarsWords)));
  if (!card.untrusted_link.empty()) {
    markdown += fmt::format("\n[Everything about {}](<{}>)\n", EscapeMarkdown(words.name),
                            MarkdownUrl(card.untrusted_link));
  }
  return markdown;
}

std::string CardRoff(const CostCard& card, RoffMacros macros) {
  const CardWords words = WordsOf(card);
  const bool mdoc = macros == RoffMacros::kMdoc;
  const std::string_view paragraph = mdoc ? ".Pp\n" : ".PP\n";
  std::string roff = mdoc ? ".Sh COST\n" : ".SH COST\n";
  // "\&" prevents the name from being read as a request.
  roff += fmt::format("\\&{}, {}.\n", EscapeRoff(words.name), EscapeRoff(words.subject));
  if (card.provenance.synthetic) roff += fmt::format("{}{}.\n", paragraph, kSyntheticWords);
  roff += paragraph;
  // Does not use tbl(1), which would have to be requested in the page's first line.
  roff += ".nf\n";
  std::vector<draw::TextLine> lines;
  for (const CardLine& line : words.lines) {
    lines.push_back({line.version, line.p50, line.p95, line.p99, line.count, line.contributions});
  }
  const std::string table = draw::TextTable({{.heading = "version", .least = kLeastCardVersion},
                                             {.heading = "p50", .right = true},
                                             {.heading = "p95", .right = true},
                                             {.heading = "p99", .right = true},
                                             {.heading = "calls", .right = true},
                                             {.heading = "contrib", .right = true}},
                                            lines, {.utf8 = true, .columns = kPageWidth});
  for (const std::string_view line : Split(Trim(table), "\n")) {
    roff += fmt::format("\\&{}\n", EscapeRoff(line));
  }
  roff += ".fi\n";
  roff += fmt::format("{}\\&{}\n", paragraph, EscapeRoff(words.footer));
  if (!card.untrusted_link.empty()) {
    roff += fmt::format("{}\\&{}\n", paragraph, EscapeRoff(card.untrusted_link));
  }
  return roff;
}

}  // namespace fieldcost::report

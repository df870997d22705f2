#include "tools/report/lab/coverage_text.h"

#include <fmt/format.h>

#include <set>

#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/names/cxx_name.h"
#include "tools/report/page.h"

namespace fieldcost::report {
namespace {

using analysis::LibraryCoverage;

// "a, b, c", demangled; not escaped.
std::string Listed(const std::set<std::string>& symbols) {
  std::string text;
  for (const std::string& symbol : symbols) {
    text += (text.empty() ? "" : ", ") + names::DemangledName(symbol);
  }
  return text;
}

std::string NamesText(std::string_view words, const std::set<std::string>& symbols,
                      const draw::Style& style) {
  if (symbols.empty()) return "";
  return draw::WrapLines(fmt::format("  {}: {}\n", words, EscapeControl(Listed(symbols))), style);
}

std::string LineOf(const LibraryCoverage& library, bool is_incomplete) {
  const std::size_t all = library.called.size() + library.uncalled.size();
  std::string text = fmt::format("{}{} of {} of {} {} called", is_incomplete ? "at least " : "",
                                 FormatCount(library.called.size()), Counted(all, "function"),
                                 EscapeControl(library.library), all == 1 ? "was" : "were");
  if (!library.not_measured.empty()) {
    text += fmt::format("; {} cannot be measured", FormatCount(library.not_measured.size()));
  }
  return text + "\n";
}

std::string FoldedNames(std::string_view words, const std::set<std::string>& symbols) {
  if (symbols.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n<p>{}</p>\n</details>\n",
                     draw::EscapeHtml(words), draw::EscapeHtml(Listed(symbols)));
}

}  // namespace

std::string CoverageText(const analysis::Coverage& coverage, bool with_names,
                         const draw::Style& style) {
  std::string text;
  for (const LibraryCoverage& library : coverage.libraries) {
    text += LineOf(library, coverage.is_incomplete);
    if (!with_names) continue;
    text += NamesText("not called", library.uncalled, style);
    text += NamesText("cannot be measured", library.not_measured, style);
  }
  if (!coverage.unreadable.empty()) {
    text += draw::WrapLines(fmt::format("Exported functions are not known, since the file cannot "
                                        "be read as a library: {}\n",
                                        EscapeControl(Listed(coverage.unreadable))),
                            style);
  }
  return text;
}

std::string CoverageHtml(const analysis::Coverage& coverage) {
  if (coverage.libraries.empty()) return "";
  using enum ColumnKind;
  PageTable table{
      .id = "coverage",
      .title = "Functions called, by library",
      .caption =
          std::string("Of the functions that the library exports and that can be measured.") +
          (coverage.is_incomplete ? " Some calls may have been missed." : ""),
      .columns = {{"Library", kName},
                  {"Called", kNumber},
                  {"Not called", kNumber},
                  {"Not measured", kNumber}},
      .lines = {}};
  std::string lists;
  for (const LibraryCoverage& library : coverage.libraries) {
    table.lines.push_back({NameHtml(library.library, "", ""), FormatCount(library.called.size()),
                           FormatCount(library.uncalled.size()),
                           FormatCount(library.not_measured.size())});
    lists += FoldedNames(library.library + ": not called", library.uncalled);
    lists += FoldedNames(library.library + ": cannot be measured", library.not_measured);
  }
  return SectionHtml(table) + lists;
}

}  // namespace fieldcost::report

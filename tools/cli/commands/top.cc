#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/source.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {
namespace {

std::string TopText(const TopCommand& command, const TopApis& top, const draw::Style& style) {
  if (top.summaries.empty()) {
    return command.local ? "nothing measured yet: fieldcost run -- PROGRAM\n"
                         : "no API of that kind in the catalogue\n";
  }
  std::string text =
      report::CostTable(top.summaries, style) + report::TableNote(top.summaries, style);
  if (!top.found) {
    text += fmt::format("(the first {}; more: --limit)\n", top.summaries.size());
  } else if (top.summaries.size() < *top.found) {
    text += fmt::format("({} of {} APIs; more: --limit)\n", top.summaries.size(), *top.found);
  }
  return text;
}

}  // namespace

Result<int> Run(const TopCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const TopApis top, source.Top(command.library, command.sort, command.limit));
  FIELDCOST_TRY(PrintCosts(top.summaries, source.freshness(), output, CsvKind::kNumbers,
                           [&] { return TopText(command, top, output.style); }));
  return 0;
}

}  // namespace fieldcost::cli

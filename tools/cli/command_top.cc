#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/source.h"

namespace fieldcost::cli {
namespace {

constexpr char kColumns[] =
    "(P50 to MEAN: every call counts the same; M-P50 to M-P99: every contribution does)\n";

std::string TopText(const TopCommand& command, const TopApis& top, const report::Style& style) {
  if (top.summaries.empty()) {
    return command.local ? "nothing measured yet: fieldcost run -- PROGRAM\n"
                         : "no API of that kind in the catalogue\n";
  }
  std::string text = report::CostTable(top.summaries, style);
  if (report::HasMachines(top.summaries)) text += kColumns;
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

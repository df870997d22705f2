#include "tools/cli/commands.h"
#include "tools/cli/freshness_text.h"
#include "tools/cli/json_output.h"
#include "tools/cli/source.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {

Result<int> Run(const TopCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(std::vector<report::CostSummary> summaries, source.Summaries(command.library));
  const std::size_t found = summaries.size();
  report::Sort(summaries, command.sort);
  if (command.limit != 0 && found > command.limit) {
    summaries.resize(static_cast<std::size_t>(command.limit));
  }
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(RowsJson(summaries, source.freshness())));
    return 0;
  }
  std::string text;
  if (found == 0) {
    text = command.local ? "nothing measured yet: fieldcost run -- PROGRAM\n"
                         : "no API of that kind in the catalogue\n";
  } else {
    text = report::CostTable(summaries, output.style);
    if (report::HasMachines(summaries)) {
      text +=
          "(P50 to MEAN: every call counts the same; M-P50 to M-P99: every contribution does)\n";
    }
    if (summaries.size() < found) {
      text += fmt::format("({} of {} APIs; more: --limit)\n", summaries.size(), found);
    }
  }
  if (source.freshness()) text += FreshnessText(*source.freshness(), SystemClock().Now());
  FIELDCOST_TRY(WriteStdout(text));
  return 0;
}

}  // namespace fieldcost::cli

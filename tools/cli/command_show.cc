#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/find_api.h"
#include "tools/cli/source.h"

namespace fieldcost::cli {

Result<int> Run(const ShowCommand& command, const Output& output) {
  FIELDCOST_TRY(CheckApiName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::vector<report::CostSummary> summaries,
                   FindApi(source, command.api, command.selection));
  const auto text = [&] {
    std::string all;
    for (const report::CostSummary& summary : summaries) {
      all += report::CostDetail(summary, output.style) + "\n";
    }
    return all;
  };
  FIELDCOST_TRY(PrintCosts(summaries, source.freshness(), output, CsvKind::kNumbers, text));
  return 0;
}

Result<int> Run(const HistCommand& command, const Output& output) {
  FIELDCOST_TRY(CheckApiName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::vector<report::CostSummary> summaries,
                   FindApi(source, command.api, command.selection));
  const auto text = [&] {
    std::string all;
    for (const report::CostSummary& summary : summaries) {
      all += report::HistogramDetail(summary, output.style) + "\n";
    }
    return all;
  };
  FIELDCOST_TRY(PrintCosts(summaries, source.freshness(), output, CsvKind::kBuckets, text));
  return 0;
}

}  // namespace fieldcost::cli

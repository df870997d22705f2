#include "tools/analysis/summary.h"
#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/find_api.h"
#include "tools/cli/source.h"
#include "tools/report/cost_detail.h"

namespace fieldcost::cli {
namespace {

using Detail = std::string(const analysis::CostSummary& summary, const draw::Style& style);

// `show` and `hist` differ in what they tell of each API found.
template <typename Command>
Result<int> ShowEach(const Command& command, const Output& output, CsvKind csv, Detail* detail) {
  FIELDCOST_TRY(CheckApiName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::vector<analysis::CostSummary> summaries,
                   FindApi(source, command.api, command.selection));
  const auto text = [&] {
    std::string all;
    for (const analysis::CostSummary& summary : summaries) {
      all += detail(summary, output.style) + "\n";
    }
    return all;
  };
  FIELDCOST_TRY(PrintCosts(summaries, source.freshness(), output, csv, text));
  return 0;
}

}  // namespace

Result<int> Run(const ShowCommand& command, const Output& output) {
  return ShowEach(command, output, CsvKind::kNumbers, report::CostDetail);
}

Result<int> Run(const HistCommand& command, const Output& output) {
  return ShowEach(command, output, CsvKind::kBuckets, report::HistogramDetail);
}

}  // namespace fieldcost::cli

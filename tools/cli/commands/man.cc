// `fieldcost man`: a manual page with what the function costs.
#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/docs/man_page.h"
#include "tools/cli/find_api.h"
#include "tools/cli/json_output.h"
#include "tools/cli/source.h"
#include "tools/cli/terminal_io.h"
#include "tools/report/link_template.h"

namespace fieldcost::cli {

Result<int> Run(const ManCommand& command, const Output& output) {
  if (!command.url.empty()) FIELDCOST_TRY(report::CheckLinkTemplate(command.url));
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  FIELDCOST_ASSIGN(auto summaries, FindApi(source, command.api, {}));
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(RowsJson(summaries, source.freshness())));
    return 0;
  }
  std::vector<report::CostCard> cards =
      report::CardsOf(std::move(summaries), ProvenanceOf(source.freshness()));
  report::CostCard& card = cards.front();
  card.untrusted_link = report::FillLink(command.url, ApiOf(card));
  const std::string& name = ApiOf(card).symbol;
  auto page = FindManPage(name, command.section);
  // Without man(1) the section can still be had.
  if (!page && !command.roff) return page.error();
  const std::string roff = WithCost(page ? std::move(*page) : "", name, card);
  if (!command.roff) return ShowManPage(roff);
  FIELDCOST_TRY(WriteStdout(roff));
  return 0;
}

}  // namespace fieldcost::cli

// `fieldcost agent view`: writes the user's own costs as a page.
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/base/percent_encode.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/status_text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/terminal/browser.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/cost_page.h"
#include "tools/report/lab/lab_page.h"

namespace fieldcost::cli {
namespace {

struct ViewRequest {
  std::filesystem::path output;  // empty = in the state directory, or next to the table
  std::filesystem::path table;   // a lab table instead of local measurements
  bool open = false;             // in the user's browser
};

struct Page {
  std::string html;
  std::size_t api_count = 0;
  std::filesystem::path place;  // default path of the page, without --output
};

constexpr char kPageName[] = "view.html";

// "2026-11-12", the first day of a week.
std::string Day(std::uint32_t week) {
  const WallTime time{std::chrono::days(7) * std::int64_t{week}};
  return draw::FormatTime(time).substr(0, 10);
}

std::string WeeksText(const std::vector<stats::StatRow>& rows) {
  if (rows.empty()) return "nothing yet";
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t last = 0;
  for (const stats::StatRow& row : rows) {
    first = std::min(first, row.key.week);
    last = std::max(last, row.key.week);
  }
  if (first == last) return fmt::format("in the week from {} on", Day(first));
  return fmt::format("from the week of {} to that of {}", Day(first), Day(last));
}

std::string ModeText(const volunteer::AgentStatus& status) {
  std::string text(Name(status.consent.mode));
  if (status.consent.since != WallTime{}) {
    text += " since " + draw::FormatTime(status.consent.since);
  }
  if (status.forbidden) text += "; not permitted by the administrator, so nothing is measured";
  return text;
}

std::vector<report::CostPageContent::Fact> PageFacts(const volunteer::AgentStatus& status,
                                                     const settings::AgentConfig& config,
                                                     const std::vector<stats::StatRow>& rows) {
  std::vector<report::CostPageContent::Fact> facts = {
      {"Mode", ModeText(status)},
      {"Server", ServerText(config)},
      {"Sent", Counted(status.outbox.sent_batches, "batch", "batches") + " (fieldcost agent log)"}};
  if (status.outbox.withdrawn_batches != 0) {
    facts.push_back({"Taken back", Counted(status.outbox.withdrawn_batches, "batch", "batches")});
  }
  facts.push_back(
      {"Waiting",
       fmt::format("{}, {} (fieldcost agent preview)", Counted(status.outbox.pending_rows, "row"),
                   Counted(status.outbox.spooled_batches, "finished batch", "finished batches"))});
  facts.push_back({"Stays here", Counted(status.measuring.private_rows_kept, "row") +
                                     " of non-public libraries, and anything "
                                     "measured with --pick"});
  facts.push_back({"Measured", WeeksText(rows)});
  return facts;
}

Result<Page> PageOfTable(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const wire::LabTable table, ReadLabTable(file));
  const report::LabPageContent content = report::LabPageContentOf(table);
  return Page{.html = report::LabPage(content),
              .api_count = content.costs.size(),
              .place = file.string() + ".html"};
}

Result<Page> PageOfAgent(const ViewRequest& command) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  std::error_code ignored;
  if (command.output.empty() && !std::filesystem::exists(paths.state_dir, ignored)) {
    return Fail(ErrorCode::kNotFound, "nothing has been measured yet: fieldcost agent local");
  }
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const settings::Consent consent, settings::LoadConsent(paths.consent_file()));
  if (consent.mode != settings::Mode::kOff) FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(const volunteer::AgentStatus status, agent.GetStatus());
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, agent.LocalRows());
  report::CostPageContent content{.made = SystemClock().Now(),
                                  .facts = PageFacts(status, agent.config(), rows),
                                  .summaries = analysis::Summarise(rows, stats::Whose::kOwn),
                                  .waiting = {}};
  content.waiting = analysis::SetWaitingApart(content.summaries, &analysis::CostSummary::api);
  analysis::Sort(content.summaries, analysis::SortKey::kTotal);
  return Page{.html = report::CostPage(content),
              .api_count = content.summaries.size(),
              .place = paths.state_dir / kPageName};
}

Result<int> RunView(const ViewRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const Page page,
                   command.table.empty() ? PageOfAgent(command) : PageOfTable(command.table));
  if (command.output == "-") {
    FIELDCOST_TRY(WriteStdout(page.html));
    return 0;
  }
  std::error_code ignored;
  const std::filesystem::path file =
      std::filesystem::absolute(command.output.empty() ? page.place : command.output, ignored);
  FIELDCOST_TRY(WriteFileAtomically(file, page.html, kPrivateFileMode));
  const std::string url = FileUrl(file.lexically_normal().string());
  FIELDCOST_TRY(WriteStdout(output.json ? ViewJson(url, page.api_count) : url + "\n"));
  if (command.open) FIELDCOST_TRY(OpenInBrowser(file.lexically_normal()));
  return 0;
}

}  // namespace

command::Command AgentViewCommand() {
  return {.name = "view",
          .summary = "Your own costs as a page for the browser",
          .help = R"(A single file that needs no network, script or server. Examples:
  fieldcost agent view --open
  fieldcost agent view --output costs.html
  fieldcost agent view --table a.lab --open)",
          .options = {{.names = "--output",
                       .value = "FILE",
                       .help = "Write to FILE (- = stdout) instead of the state directory",
                       .completes = command::Completes::kFiles},
                      TableOption({}),
                      {.names = "--open",
                       .help = "Open it in the browser ($BROWSER, otherwise xdg-open)"}},
          .handler =
              [](const command::Arguments& arguments) {
                return RunView({.output = arguments.Text("--output"),
                                .table = arguments.Text("--table"),
                                .open = arguments.Has("--open")},
                               OutputOf(arguments));
              },
          .without = {"--csv"}};
}

}  // namespace fieldcost::cli

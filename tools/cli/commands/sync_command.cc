// `fieldcost sync`: refreshes the local copy of the catalogue.
#include "agent/settings/paths.h"
#include "common/base/text.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/cost_json.h"
#include "tools/cli/costs/sync_options.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {

namespace {

struct SyncRequest {
  bool full = false;
  std::string api;                // "soname!symbol" or empty
  std::filesystem::path witness;  // may be empty
};

std::string WitnessText(const std::filesystem::path& file, const catalog::SyncReport& report) {
  if (file.empty()) return "";
  return fmt::format("witness {}: {}, {}\n", EscapeControl(file.string()),
                     Counted(report.witnessed_snapshots, "snapshot"),
                     report.is_new_in_witness ? "the last one new" : "none new");
}

Result<int> RunSync(const SyncRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(paths));
  if (config.url.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no service to fetch the catalogue from: {}",
                config.HowToJoin());
  }
  catalog::SyncOptions options = SyncOptionsOf(paths, config);
  options.full = command.full;
  options.wanted_api = command.api;
  options.witness_file = command.witness;
  options.progress = Progress("fragment");
  FIELDCOST_ASSIGN(const catalog::SyncReport report, catalog::Sync(options, SystemClock()));
  FIELDCOST_ASSIGN(const catalog::Catalog opened, catalog::Catalog::Open(paths.catalog_file));
  FIELDCOST_ASSIGN(const catalog::Freshness freshness, opened.GetFreshness());
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(SyncJson(report, freshness)));
    return 0;
  }
  std::string text;
  if (report.already_done_today) {
    text = "today's share was already fetched (everything now: --full)\n";
  } else {
    text = fmt::format("fetched {}, {}\n", Counted(report.fragments_fetched, "fragment"),
                       Counted(report.bytes_fetched, "byte"));
  }
  text += WitnessText(command.witness, report);
  FIELDCOST_TRY(WritePaged(text + FreshnessText(freshness, SystemClock().Now()), output));
  return 0;
}

}  // namespace

command::Command SyncCommand() {
  return {
      .name = "sync",
      .summary = "Refresh the local copy of the catalogue",
      .help = R"(Examples:
  fieldcost sync           today's share, at most once a day
  fieldcost sync --full
  fieldcost sync --api 'libsqlite3.so.0!sqlite3_step'
  fieldcost sync --witness snapshots.txt     record what the server presents)",
      .options = {{.names = "--full", .help = "Fetch everything now instead of today's share"},
                  {.names = "--api",
                   .value = "SONAME!SYMBOL",
                   .help = "Also fetch the part with this API now",
                   .completes = command::Completes::kApi},
                  {.names = "--witness",
                   .value = "FILE",
                   .help = "Add the snapshot's hash to FILE, to be compared with another user's",
                   .completes = command::Completes::kFiles}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunSync({.full = arguments.Has("--full"),
                            .api = arguments.Text("--api"),
                            .witness = arguments.Text("--witness")},
                           OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli

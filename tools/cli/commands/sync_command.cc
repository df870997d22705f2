// `fieldcost sync`: refreshes the local copy of the catalogue.
#include "agent/refresh/automatic_refresh.h"
#include "agent/refresh/sync_options.h"
#include "agent/settings/paths.h"
#include "common/base/text.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/refresh_text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/cost_json.h"
#include "tools/cli/join/user_units.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {

namespace {

struct SyncRequest {
  bool full = false;
  bool if_due = false;
  bool status = false;
  std::string automatic;          // "on", "off" or empty
  std::string api;                // "soname!symbol" or empty
  std::filesystem::path witness;  // may be empty
  std::filesystem::path from;     // a published tree; empty = the service
};

struct SyncPlace {
  settings::AgentPaths paths;
  settings::AgentConfig config;
};

std::string WitnessText(const std::filesystem::path& file, const catalog::SyncReport& report) {
  if (file.empty()) return "";
  return fmt::format("witness {}: {}, {}\n", EscapeControl(file.string()),
                     Counted(report.witnessed_snapshots, "snapshot"),
                     report.is_new_in_witness ? "the last one new" : "none new");
}

Status CheckService(const SyncPlace& place) {
  if (place.config.HasCatalogue()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "sync: neither [aggregator] url nor [catalog] urls is set in {}, and no service is "
              "joined; {}",
              place.paths.config_file.string(), place.config.HowToJoin());
}

Result<int> FetchNow(const SyncPlace& place, const SyncRequest& request, const Output& output) {
  catalog::SyncOptions options = refresh::SyncOptionsOf(place.paths, place.config);
  options.full = request.full || !request.from.empty();
  if (!request.from.empty()) {
    options.mirrors = {{.url = {}, .proxy_url = {}, .directory = request.from}};
  }
  options.wanted_api = request.api;
  options.witness_file = request.witness;
  options.progress = Progress("fragment");
  FIELDCOST_ASSIGN(const catalog::SyncReport report, catalog::Sync(options, SystemClock()));
  FIELDCOST_ASSIGN(const catalog::Catalog opened, catalog::Catalog::Open(place.paths.catalog_file));
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
  for (const std::string& mirror : report.skipped_mirrors) text += "skipped " + mirror + "\n";
  text += WitnessText(request.witness, report);
  FIELDCOST_TRY(WritePaged(text + FreshnessText(freshness, SystemClock().Now()), output));
  return 0;
}

// For timers: prints nothing unless something was fetched or failed.
Result<int> FetchIfDue(const SyncPlace& place, const Output& output) {
  FIELDCOST_ASSIGN(const refresh::RefreshOutcome outcome,
                   refresh::RefreshIfDue(place.paths, place.config, SystemClock()));
  if (output.json) {
    FIELDCOST_TRY(
        WriteStdout(RefreshJson(refresh::GetStatus(place.paths, place.config, SystemClock()))));
  } else if (outcome.report) {
    FIELDCOST_TRY(WriteStdout(fmt::format("fetched {}, {}\n",
                                          Counted(outcome.report->fragments_fetched, "fragment"),
                                          Counted(outcome.report->bytes_fetched, "byte"))));
  }
  return 0;
}

Result<int> ShowStatus(const SyncPlace& place, const Output& output) {
  const refresh::RefreshStatus status =
      refresh::GetStatus(place.paths, place.config, SystemClock());
  const WallTime now = SystemClock().Now();
  FIELDCOST_TRY(
      WriteStdout(output.json ? RefreshJson(status) : FitStdout(RefreshText(status, now) + "\n")));
  return 0;
}

// The decision is stored first when switching off, and last when switching on, so that no failure
// leaves it on unintentionally.
Result<int> SetAutomatic(const SyncPlace& place, bool on, const Output& output) {
  const std::string why_by_hand = WhyNoUnit(kRefreshUnit, place.paths);
  if (!on) FIELDCOST_TRY(refresh::SwitchOff(place.paths));
  if (!on && IsEnabled(kRefreshUnit)) FIELDCOST_TRY(Disable(kRefreshUnit));
  if (on) FIELDCOST_TRY(CheckService(place));
  if (on && why_by_hand.empty()) FIELDCOST_TRY(Enable(kRefreshUnit));
  if (on) FIELDCOST_TRY(refresh::SwitchOn(place.paths));
  if (on && !why_by_hand.empty() && !output.json) {
    FIELDCOST_TRY(
        WriteStdout(FitStdout(fmt::format("TO DO: {} ({})\n", kWithoutRefreshUnit, why_by_hand))));
  }
  return ShowStatus(place, output);
}

Result<int> RunSync(const SyncRequest& request, const Output& output) {
  SyncPlace place;
  FIELDCOST_ASSIGN(place.paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(place.config, settings::AgentConfig::Load(place.paths));
  if (request.status) return ShowStatus(place, output);
  if (!request.automatic.empty()) return SetAutomatic(place, request.automatic == "on", output);
  if (request.if_due) return FetchIfDue(place, output);
  if (request.from.empty()) FIELDCOST_TRY(CheckService(place));
  return FetchNow(place, request, output);
}

}  // namespace

command::Command SyncCommand() {
  return {
      .name = "sync",
      .summary = "Refresh the local copy of the catalogue",
      .help =
          R"(Automatic refreshing is off until you switch it on (`fieldcost agent join` asks). It contacts the
service once per period that the service states, at a time drawn for this machine, and waits for
mains power, a connection that is not metered, and the end of a pause.
Examples:
  fieldcost sync             everything at first; later a share, once a day
  fieldcost sync --full
  fieldcost sync --api 'libsqlite3.so.0!sqlite3_step'
  fieldcost sync --from /srv/tree   a published tree, without a network
  fieldcost sync --witness snapshots.txt   record what the server presents
  fieldcost sync --auto on   refresh automatically from now on
  fieldcost sync --status    is it up to date, and when is the next check?)",
      .options = {{.names = "--full", .help = "Fetch everything now instead of today's share"},
                  {.names = "--api",
                   .value = "SONAME!SYMBOL",
                   .help = "Also fetch the part with this API now",
                   .completes = command::Completes::kApi},
                  {.names = "--witness",
                   .value = "FILE",
                   .help = "Add the snapshot's hash to FILE, to be compared with another user's",
                   .completes = command::Completes::kFiles,
                   .excludes = {"--auto", "--if-due", "--status"}},
                  {.names = "--from",
                   .value = "DIR",
                   .help = "Fetch everything from a published tree instead of the service",
                   .completes = command::Completes::kFiles,
                   .excludes = {"--auto", "--if-due", "--status"}},
                  {.names = "--auto",
                   .value = "WHAT",
                   .help = "Switch automatic refreshing on or off; fetches nothing now",
                   .choices = {"on", "off"},
                   .excludes = {"--full", "--api"}},
                  {.names = "--if-due",
                   .help = "Fetch only if an automatic refresh is due; for timers",
                   .excludes = {"--full", "--api", "--auto"}},
                  {.names = "--status",
                   .help = "Only show whether the copy is up to date, and the next check",
                   .excludes = {"--full", "--api", "--auto", "--if-due"}}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunSync({.full = arguments.Has("--full"),
                            .if_due = arguments.Has("--if-due"),
                            .status = arguments.Has("--status"),
                            .automatic = arguments.Text("--auto"),
                            .api = arguments.Text("--api"),
                            .witness = arguments.Text("--witness"),
                            .from = arguments.Text("--from")},
                           OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli

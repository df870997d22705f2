// `fieldcost-aggregator revoke`: refuses further batches of an agent, and removes its
// contributions.
#include <fmt/format.h>
#include <unistd.h>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/revocation.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "common/base/clock.h"
#include "common/base/json_writer.h"

namespace fieldcost::aggregator {
namespace {

Outcome OutcomeOf(const ingest::RevocationReport& report) {
  Outcome outcome;
  for (const auto& [name, value] : report.numbers) outcome.Add(name, value);
  if (!report.changes.empty()) outcome.Add("changes", report.changes);
  return outcome;
}

// Finds the agent's id in the store of a stopped server.
Result<std::string> FindAgentOf(const Config& config, const std::string& agent,
                                store::Store& store) {
  const WallTime now = SystemClock().Now();
  const std::filesystem::path keys = config.store.data_dir / "keys";
  const std::filesystem::path secret = keys / ingest::kPseudonymSecret;
  std::error_code error;
  if (!std::filesystem::exists(secret, error)) {
    return Fail(ErrorCode::kNotFound, "secret file {} is missing", secret.string());
  }
  FIELDCOST_ASSIGN(const auto pseudonyms, ingest::Pseudonyms::LoadOrCreate(secret));
  FIELDCOST_TRY(store.Bind(ingest::kPseudonymSecret, pseudonyms.Fingerprint()));
  FIELDCOST_ASSIGN(auto names,
                   ingest::AbuseNames::LoadOrCreate(keys / ingest::kAbuseNamesSecret, now));
  return ingest::FindAgent(agent, store, pseudonyms, names.ReaderAt(now));
}

Result<int> Revoke(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  const ingest::RevocationRequest request{
      .agent = arguments.Text(arguments.Has("agent") ? "agent" : "--agent"),
      .withdraw = arguments.Has("--withdraw"),
      .dry_run = arguments.Has("--dry-run")};
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_TRY(ingest::CheckForm(request));
  JsonWriter writer;
  writer.Object().Member("agent", request.agent).Member("withdraw", request.withdraw);
  const std::string body = writer.Member("dry_run", request.dry_run).EndObject().TakeValue();
  const auto work = [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(const std::string agent_id, FindAgentOf(config, request.agent, store));
    const bool show = !json && ::isatty(STDERR_FILENO) == 1;
    const auto progress = [show](int done, int total) {
      if (show) fmt::print(stderr, "\rwithdrawing {}/{}", done, total);
    };
    FIELDCOST_ASSIGN(const ingest::RevocationReport report,
                     ingest::RevokeAgent(store, agent_id, request,
                                         config.publish.contribution_threshold, progress));
    if (show && request.withdraw && !request.dry_run) fmt::print(stderr, "\n");
    return OutcomeOf(report);
  };
  FIELDCOST_ASSIGN(const Outcome outcome, WithStore(config, admin::kRevokePath, body, work));
  Print(outcome,
        request.dry_run ? "dry run; would change"
                        : "revoked: all further batches of this agent are refused",
        json);
  return 0;
}

Status CheckAgentIsNamed(const command::Arguments& arguments) {
  if (arguments.Has("agent") || arguments.Has("--agent")) return {};
  return Fail(ErrorCode::kInvalidArgument, "revoke needs the agent's name or public key");
}

}  // namespace

command::Command RevokeCommand() {
  return {
      .name = "revoke",
      .summary = "Refuse all further batches of an agent; withdraw its contributions",
      .help =
          R"(NAME is the agent's name in the log of the last 7 days, or its public key (64 hex digits).

Examples:
  fieldcost-aggregator revoke --config aggregator.toml 33dde1a70f09fcb9
  fieldcost-aggregator revoke --config aggregator.toml 33dde1a70f09fcb9 \
    --withdraw --dry-run)",
      .options = {{.names = "agent", .value = "NAME", .help = "The agent"},
                  {.names = "--agent",
                   .value = "NAME",
                   .help = "The same, as an option",
                   .excludes = {"agent"}},
                  {.names = "--withdraw",
                   .help = "Withdraw everything that the agent contributed, as if never sent; if "
                           "interrupted, run it again"},
                  {.names = "--dry-run",
                   .help = "Change nothing, and show what would change",
                   .needs = {"--withdraw"}}},
      .handler = Revoke,
      .check = CheckAgentIsNamed};
}

}  // namespace fieldcost::aggregator

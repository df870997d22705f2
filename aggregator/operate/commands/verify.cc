// `fieldcost-aggregator verify`: checks all of a store, running or stopped.
#include "aggregator/admin/requests.h"
#include "aggregator/operate/ask_service.h"
#include "aggregator/operate/commands.h"
#include "aggregator/operate/with_store.h"

namespace fieldcost::aggregator {
namespace {

// Verifies a stopped store without changing anything.
Result<Outcome> VerifyStore(const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  const auto report = store::Store::VerifyStopped(config.store);
  if (!report && report.error().code == ErrorCode::kAlreadyExists) {
    return AskService(config, admin::kVerifyPath, "{}");
  }
  if (!report) return report.error();
  Outcome found;
  for (const auto& [name, number] : store::NumbersOf(*report)) found.Add(name, number);
  found.Add("ok", report->ok()).Add("problem", report->first_problem);
  return found;
}

Result<int> Verify(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const Outcome outcome, VerifyStore(config));
  const bool ok = outcome.IsTrue("ok");
  Print(
      outcome,
      ok ? "the store is good: every file is what was written, every row is valid, they add up to "
           "what was accepted, and the ledger agrees"
         : "the store has a problem",
      arguments.Has("--json"));
  return ok ? 0 : 1;
}

}  // namespace

command::Command VerifyCommand() {
  return {
      .name = "verify",
      .summary = "Read all files of the store, add up again, and check everything in it",
      .help =
          R"(Changes nothing. Status 0: all is good; 1: something is not, and the first such thing is named;
65: it cannot be opened, since a log or the list of files is damaged.

Example:
  fieldcost-aggregator verify --config aggregator.toml)",
      .handler = Verify};
}

}  // namespace fieldcost::aggregator

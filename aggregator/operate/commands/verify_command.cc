// `fieldcost-aggregator verify`: checks a whole data directory; the server may be running or
// stopped.
#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/ask_service.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "aggregator/upkeep/data_check.h"

namespace fieldcost::aggregator {
namespace {

// Verifies the files of a stopped server without changing anything.
Result<Outcome> VerifyData(const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  auto store = store::Store::VerifyStopped(config.store);
  if (!store && store.error().code == ErrorCode::kAlreadyExists) {
    return AskService(config, admin::kVerifyPath, "{}");
  }
  if (!store) return store.error();
  FIELDCOST_ASSIGN(publish::FileReport files,
                   CheckFilesBesideStore(config.store.data_dir, store->bindings));
  const DataReport report{.store = std::move(*store), .files = std::move(files)};
  Outcome found;
  for (const auto& [name, number] : report.Numbers()) found.Add(name, number);
  found.Add("ok", report.ok()).Add("problem", report.FirstProblem());
  return found;
}

Result<int> Verify(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const Outcome outcome, VerifyData(config));
  const bool ok = outcome.IsTrue("ok");
  Print(outcome,
        ok ? "the store is good: every file is unchanged (also keys, secrets and published files), "
             "every row is valid, the rows add up to the accepted batches, and the ledger agrees"
           : "the data directory has a problem",
        arguments.Has("--json"));
  return ok ? 0 : 1;
}

}  // namespace

command::Command VerifyCommand() {
  return {
      .name = "verify",
      .summary = "Read all files of the data directory, add up again, and check everything",
      .help =
          R"(Reads the store, the published files (publish/), the signing keys and the secrets (keys/). Tokens
and certificates have no copy to compare with: --check-config reads them.

Changes nothing. Status 0: no problem; 1: a problem, and the first is named; 65: the store cannot be
opened because a log or the list of files is damaged.

Example:
  fieldcost-aggregator verify --config aggregator.toml)",
      .handler = Verify};
}

}  // namespace fieldcost::aggregator

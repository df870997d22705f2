// `fieldcost-aggregator restore`: restores the newest backup into the data directory.
#include <fmt/format.h>

#include <cstdint>

#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "aggregator/upkeep/backup.h"

namespace fieldcost::aggregator {
namespace {

void PrintWhatIsLost(const RestoreReport& report) {
  PrintLines(
      "Batches acknowledged after this backup was made are lost: agents do not send them again.\n"
      "Published versions continue after a gap, so that clients accept them. Sign the policy "
      "again.\n");
  if (!report.missing_keys.empty()) {
    PrintLines("Signing keys are missing: put them back, or create new ones with keys rotate.\n");
  }
  if (!report.passed_over.empty()) {
    PrintLines(
        "There is a later backup, but its file list is missing or it was interrupted: the previous "
        "one was restored.\n");
  }
}

Result<int> RestoreStore(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const RestoreReport report,
                   Restore(arguments.Text("--from"), config.store.data_dir));
  FIELDCOST_ASSIGN(const auto store, OpenExisting(config));
  Outcome outcome;
  outcome.Add("sequence", store->sequence()).Add("files", std::uint64_t{report.files});
  if (!report.missing_keys.empty()) {
    std::vector<std::string> names;
    for (const std::filesystem::path& key : report.missing_keys) names.push_back(key.string());
    outcome.Add("missing_keys", std::move(names));
  }
  if (!report.passed_over.empty()) outcome.Add("passed_over", report.passed_over.string());
  if (!json) PrintWhatIsLost(report);
  Print(outcome, "restored", json);
  return 0;
}

}  // namespace

command::Command RestoreCommand() {
  return {
      .name = "restore",
      .summary = "Make the newest backup the data directory, which must be empty",
      .help =
          R"(The server must be stopped. Batches acknowledged after the backup was made are lost.

Example:
  fieldcost-aggregator restore --config new.toml --from /srv/backups/fieldcost)",
      .options = {{.names = "--from",
                   .value = "DIR",
                   .help = "Where the backups are",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true}},
      .handler = RestoreStore};
}

}  // namespace fieldcost::aggregator

// `fieldcost-aggregator backup`: adds a backup of store, keys and policy to a directory.
#include "aggregator/upkeep/backup.h"

#include <cstdint>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "common/base/json_writer.h"

namespace fieldcost::aggregator {
namespace {

Result<int> BackUpStore(const command::Arguments& arguments) {
  const std::filesystem::path directory = std::filesystem::absolute(arguments.Text("--to"));
  const bool without_signing_keys = arguments.Has("--without-signing-keys");
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  JsonWriter writer;
  writer.Object().Member("directory", directory.string());
  const std::string body =
      writer.Member("without_signing_keys", without_signing_keys).EndObject().TakeValue();
  const auto work = [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(const BackupReport report,
                     BackUp(store, {.data_dir = config.store.data_dir,
                                    .directory = directory,
                                    .without_signing_keys = without_signing_keys}));
    Outcome outcome;
    outcome.Add("sequence", report.sequence).Add("files", std::uint64_t{report.files});
    return outcome;
  };
  FIELDCOST_ASSIGN(const Outcome outcome, WithStore(config, admin::kBackupPath, body, work));
  Print(outcome, "backed up", arguments.Has("--json"));
  return 0;
}

}  // namespace

command::Command BackupCommand() {
  return {
      .name = "backup",
      .summary = "Add a backup of the store, keys and policy to a directory",
      .help =
          R"(It never contains the root key. Anyone who can read a backup can sign as this service, so keep it
where only you can read it. A running server writes it itself, as its own user.

Example:
  fieldcost-aggregator backup --config aggregator.toml --to /srv/backup)",
      .options = {{.names = "--to",
                   .value = "DIR",
                   .help = "Directory of the backups; created if absent",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--without-signing-keys",
                   .help = "Omit timestamp.key, snapshot.key and policy.key; after a restore, put "
                           "them back or rotate them"}},
      .handler = BackUpStore};
}

}  // namespace fieldcost::aggregator

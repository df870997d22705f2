// `fieldcost-probe-server backup` writes all data to a new file, `restore` restores it, and
// `recover` accepts the loss of data in a damaged database.
#include "aggregator/probe_server/probe_backup.h"

#include <fmt/format.h>

#include "aggregator/probe_server/probe_server_commands.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

Result<int> Backup(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const std::filesystem::path made,
                   BackUp(config.database(), arguments.Text("directory")));
  fmt::print("backed up to {} and verified\n", EscapeControl(made.string()));
  return 0;
}

Result<int> RestoreNow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_TRY(Restore(arguments.Text("directory"), config.database()));
  fmt::print("restored {} and verified it\n", EscapeControl(config.database().string()));
  return 0;
}

Result<int> RecoverNow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const RecoverReport report,
                   Recover(config.database(), arguments.Has("--accept-loss")));
  if (!report.is_damaged) {
    fmt::print("all {} changes are present; nothing to do\n", report.found);
    return 0;
  }
  const std::string acknowledged =
      report.acknowledged == 0 ? "an unknown number" : fmt::format("{}", report.acknowledged);
  fmt::print("{} changes are present, {} were acknowledged\n", report.found, acknowledged);
  if (report.evidence.empty()) {
    fmt::print("restore a backup, or accept the loss with --accept-loss\n");
    return 1;
  }
  fmt::print("accepted; a copy of the old files is in {}\n",
             EscapeControl(report.evidence.string()));
  return 0;
}

command::Option DirectoryOption(std::string_view help) {
  return {.names = "directory",
          .value = "DIR",
          .help = help,
          .completes = command::Completes::kFiles,
          .check = command::CheckNotEmpty,
          .required = true};
}

}  // namespace

command::Command RestoreCommand() {
  return {
      .name = "restore",
      .summary = "Replace lost data with a backup",
      .help =
          R"(Stop the server, and move the data directory away. Batches received after the backup are lost:
devices have deleted them.

Example:
  fieldcost-probe-server restore /srv/backup/2026-11-23 --config probe-server.toml)",
      .options = {DirectoryOption("The directory of the backup")},
      .handler = RestoreNow,
      .without = {"--check-config"}};
}

command::Command RecoverCommand() {
  return {
      .name = "recover",
      .summary = "Report what damaged data has lost, and continue without it",
      .help =
          R"(The server does not start if data that it acknowledged is missing. This reports how much; with
--accept-loss it copies the files to a directory damaged.N next to them, and lets the server start.
Status 1: data is missing, and nothing was done.

Example:
  fieldcost-probe-server recover --config probe-server.toml)",
      .options = {{.names = "--accept-loss", .help = "Continue without the missing data"}},
      .handler = RecoverNow,
      .without = {"--check-config"}};
}

command::Command BackupCommand() {
  return {
      .name = "backup",
      .summary = "Write all data into a new file, and verify it",
      .help =
          R"(To restore it: fieldcost-probe-server restore. The copy holds password hashes and what users'
programs did: protect it like the data.

Example:
  fieldcost-probe-server backup /srv/backup/2026-11-23 --config probe-server.toml)",
      .options = {DirectoryOption("The directory; created if absent, must not hold a backup")},
      .handler = Backup,
      .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

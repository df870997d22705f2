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
  fmt::print("backed up to {}, and read back: it is good\n", EscapeControl(made.string()));
  return 0;
}

Result<int> RestoreNow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_TRY(Restore(arguments.Text("directory"), config.database()));
  fmt::print("restored {}, and verified it\n", EscapeControl(config.database().string()));
  return 0;
}

Result<int> RecoverNow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const RecoverReport report,
                   Recover(config.database(), arguments.Has("--accept-loss")));
  if (!report.is_damaged) {
    fmt::print("all {} changes are there; nothing to do\n", report.found);
    return 0;
  }
  const std::string acknowledged =
      report.acknowledged == 0 ? "an unknown number" : fmt::format("{}", report.acknowledged);
  fmt::print("{} changes are there, {} were acknowledged\n", report.found, acknowledged);
  if (report.evidence.empty()) {
    fmt::print("restore a backup, or accept this with --accept-loss\n");
    return 1;
  }
  fmt::print("accepted; the files as they were are in {}\n",
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
      .summary = "Put a backup in the place of data that is gone",
      .help =
          R"(Stop the server, and move the data directory away. What came after the backup is lost: devices have
deleted it.

Example:
  fieldcost-probe-server restore /srv/backup/2026-11-23 --config probe-server.toml)",
      .options = {DirectoryOption("The directory of the backup")},
      .handler = RestoreNow,
      .without = {"--check-config"}};
}

command::Command RecoverCommand() {
  return {
      .name = "recover",
      .summary = "Look what damaged data has lost, and go on without it",
      .help =
          R"(The server does not start if something that it acknowledged is missing. This tells how much; with
--accept-loss it copies the files to a directory damaged.N beside them, and lets the server start.
Status 1: something is missing, and nothing was done.

Example:
  fieldcost-probe-server recover --config probe-server.toml)",
      .options = {{.names = "--accept-loss", .help = "Go on without what is missing"}},
      .handler = RecoverNow,
      .without = {"--check-config"}};
}

command::Command BackupCommand() {
  return {
      .name = "backup",
      .summary = "Write all data into a new file, and read it back",
      .help =
          R"(To put it back: fieldcost-probe-server restore. The copy holds password hashes and what users'
programs did: keep it as secret as the data.

Example:
  fieldcost-probe-server backup /srv/backup/2026-11-23 --config probe-server.toml)",
      .options = {DirectoryOption("The directory; made if absent, must not hold a backup")},
      .handler = Backup,
      .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

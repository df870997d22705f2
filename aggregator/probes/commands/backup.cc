// `fieldcost-probe-server backup`: writes all data into a new file, and reads it back.
#include "aggregator/probes/backup.h"

#include <fmt/format.h>

#include "aggregator/probes/commands.h"
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

}  // namespace

command::Command BackupCommand() {
  return {
      .name = "backup",
      .summary = "Write all data into a new file, and read it back",
      .help =
          R"(To restore: stop the server, remove probe-server.db, probe-server.db-wal and probe-server.db-shm of
the data directory, put the copy there as probe-server.db, readable for the server's user only, and
start. The copy holds password hashes and what users' programs did: keep it as secret as the data.

Example:
  fieldcost-probe-server backup /srv/backup/2026-11-23 --config probe-server.toml)",
      .options = {{.names = "directory",
                   .value = "DIR",
                   .help = "The directory; made if absent, must not hold a backup",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true}},
      .handler = Backup,
      .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

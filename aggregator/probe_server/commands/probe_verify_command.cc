// `fieldcost-probe-server verify`: reads the whole database and counts its contents.
#include <fmt/format.h>

#include "aggregator/probe_server/probe_backup.h"
#include "aggregator/probe_server/probe_server_commands.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

Result<int> VerifyNow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const VerifyReport report, Verify(config.database()));
  fmt::print("events={} points={} bytes={} users={} devices={} batches={}\n", report.size.events,
             report.size.hits, report.size.bytes, report.users, report.devices, report.batches);
  if (report.problem.empty()) return 0;
  fmt::print("the database has a problem: {}\n", EscapeControl(report.problem));
  return 1;
}

}  // namespace

command::Command VerifyCommand() {
  return {
      .name = "verify",
      .summary = "Read the whole database, and count its contents",
      .help =
          R"(Changes no byte of any file. Status 0: no problem; 1: a problem, which is named; 65: the files are
damaged.

Example:
  fieldcost-probe-server verify --config probe-server.toml)",
      .handler = VerifyNow,
      .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

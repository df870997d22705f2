// `fieldcost-probe-server audit`: prints logins, failed logins, enrolments, revocations and
// exports.
#include "aggregator/probe_server/data/audit.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "aggregator/probe_server/commands/list.h"
#include "aggregator/probe_server/probe_server_commands.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::uint64_t kDays = 30;
constexpr std::size_t kLeastName = 12;  // columns of a terminal

Result<int> PrintAudit(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data,
                   Data::Open(config.database(), sqlite::Database::Access::kWrite));
  const auto days = std::chrono::days(arguments.Number("--days").value_or(kDays));
  std::vector<draw::TextLine> lines;
  FIELDCOST_TRY(ReadAudit(*data, SystemClock().Now() - days, [&lines](const AuditEntry& entry) {
    lines.push_back(
        {fmt::format("{:%Y-%m-%d %H:%M:%S}", std::chrono::floor<std::chrono::seconds>(entry.time)),
         entry.what, entry.account.empty() ? "-" : EscapeControl(entry.account), entry.address,
         EscapeControl(entry.object)});
  }));
  PrintList({{.heading = "TIME (UTC)"},
             {.heading = "WHAT"},
             {.heading = "ACCOUNT", .least = kLeastName},
             {.heading = "ADDRESS", .least = kLeastName},
             {.heading = "OBJECT", .least = kLeastName}},
            lines);
  return 0;
}

}  // namespace

command::Command AuditCommand() {
  return {
      .name = "audit",
      .summary = "Print logins, failures, locks, enrolments, revocations and exports",
      .help =
          R"(One line each, the oldest first: time (UTC), action, account, address, object. Kept for 400 days.

Example:
  fieldcost-probe-server audit --days 7 --config probe-server.toml)",
      .options = {{.names = "--days",
                   .value = "N",
                   .help = "Only those of the last N days",
                   .default_text = "30",
                   .check = command::CheckBetween(1, 400)}},
      .handler = PrintAudit,
      .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

// `fieldcost-probe-server expire`: removes old events now.
#include "aggregator/probe_server/data/expire.h"

#include <fmt/format.h>

#include "aggregator/probe_server/data/data.h"
#include "aggregator/probe_server/probe_server_commands.h"

namespace fieldcost::probe_server {
namespace {

Result<int> Expire(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data,
                   Data::Open(config.database(), sqlite::Database::Access::kWrite));
  const std::uint64_t days = arguments.Number("--days").value_or(config.retention_days);
  const bool future = arguments.Has("--future");
  std::uint64_t removed = 0;
  for (;;) {
    probe::Removed some;
    FIELDCOST_TRY(data->Change([&]() -> Status {
      const WallTime now = SystemClock().Now();
      FIELDCOST_ASSIGN(some, future ? ExpireFuture(*data, now) : ExpireSome(*data, days, now));
      return {};
    }));
    removed += some.events;
    if (!some.has_more) break;
  }
  if (future) {
    fmt::print("removed {} events that begin more than a day from now\n", removed);
    return 0;
  }
  fmt::print("removed {} events that began more than {} days ago\n", removed, days);
  return 0;
}

}  // namespace

command::Command ExpireCommand() {
  return {.name = "expire",
          .summary = "Remove old events now; the server does so each hour",
          .help = R"(Example:
  fieldcost-probe-server expire --days 30 --config probe-server.toml)",
          .options = {{.names = "--days",
                       .value = "N",
                       .help = "Remove events that began more than this many days ago; by default "
                               "data.retention_days",
                       .check = command::CheckNumber},
                      {.names = "--future",
                       .help = "Remove events that begin more than a day from now instead",
                       .excludes = {"--days"}}},
          .handler = Expire,
          .without = {"--check-config"}};
}

}  // namespace fieldcost::probe_server

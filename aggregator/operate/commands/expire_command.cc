// `fieldcost-aggregator expire`: shows or removes all data from before a week.
#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "aggregator/upkeep/retention.h"
#include "common/base/clock.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

// Accepts a week's number, or a day in the week, and replaces the day by the number.
Status CheckWeek(std::string& untrusted_text) {
  if (const auto week = WeekOfDay(untrusted_text)) {
    untrusted_text = std::to_string(*week);
    return {};
  }
  const auto number = ParseUint64(untrusted_text);
  if (number && *number <= std::numeric_limits<std::uint32_t>::max()) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a week's number, or a day such as 2026-11-19");
}

Result<Outcome> ExpireStore(const Config& config, store::Store& store, std::uint32_t before_week,
                            bool yes) {
  FIELDCOST_ASSIGN(const store::ExpiryEffect effect,
                   DeleteBefore(store, SystemClock(), config.retention_weeks, before_week, yes));
  Outcome outcome;
  outcome.Add("rows", effect.rows)
      .Add("ledger_entries", effect.ledger_entries)
      .Add("held_batches", effect.held_batches)
      .Add("kept_batches", effect.kept_batches);
  if (!yes) {
    outcome.Add("rows_left", effect.rows_left)
        .Add("oldest_week", std::uint64_t{effect.oldest_week})
        .Add("newest_week", std::uint64_t{effect.newest_week});
  }
  return outcome;
}

void PrintHowToDoIt(const Config& config, const std::string& config_file,
                    std::uint32_t before_week) {
  if (config.retention_weeks == 0) {
    PrintLines("No rows would be deleted: store.retention_weeks = 0 keeps them forever.\n");
  }
  PrintLines(
      "Deletion is permanent, and batches for deleted weeks are refused from then on.\n"
      "Make a backup first:\n");
  fmt::print(
      "  fieldcost-aggregator backup --config {0} --to DIR\n"
      "Then delete them:\n"
      "  fieldcost-aggregator expire --config {0} --before {1} --yes\n",
      config_file, before_week);
}

Result<int> Expire(const command::Arguments& arguments) {
  const auto before_week = static_cast<std::uint32_t>(*arguments.Number("--before"));
  const bool yes = arguments.Has("--yes");
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  JsonWriter body;
  body.Object().Member("before", before_week).Member("yes", yes).EndObject();
  FIELDCOST_ASSIGN(
      const Outcome outcome,
      WithStore(config, admin::kExpirePath, body.TakeValue(),
                [&](store::Store& store) { return ExpireStore(config, store, before_week, yes); }));
  const std::string bound = fmt::format("week {} (from {})", before_week, FirstDayOf(before_week));
  Print(outcome,
        yes ? "deleted all rows before " + bound
            : fmt::format("dry run; would delete all rows before {}", bound),
        json);
  if (!yes && !json) PrintHowToDoIt(config, arguments.Text("--config"), before_week);
  return 0;
}

}  // namespace

command::Command ExpireCommand() {
  return {
      .name = "expire",
      .summary = "Show or remove all rows of the weeks before WEEK",
      .help =
          R"(The server removes old weeks by itself, according to store.retention_weeks; use this command when it
does not trust its clock.

Examples:
  fieldcost-aggregator expire --config aggregator.toml --before 2026-05-21
  fieldcost-aggregator expire --config aggregator.toml --before 2026-05-21 --yes)",
      .options = {{.names = "--before",
                   .value = "WEEK",
                   .help =
                       "The first week to keep: a day in it, such as 2026-11-19, or its number "
                       "(week 0 begins on Thursday 1970-01-01); must respect store.retention_weeks",
                   .check = CheckWeek,
                   .required = true},
                  {.names = "--yes", .help = "Remove them permanently; make a backup first"}},
      .handler = Expire};
}

}  // namespace fieldcost::aggregator

#include "tools/cli/join/join_text.h"

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "tools/cli/agent/batch_text.h"

namespace fieldcost::cli {
namespace {

constexpr char kConsentText[] = R"(If you join:
- Programs that you run are measured: by default, in one run of 16, the time,
  memory or bytes of a few randomly chosen functions, for at most 1 % of a
  program's time. Your agent.toml can change this, and so can the service's
  signed policy, within built-in ceilings.
- For each measured function of a public library, the sums of its costs are sent
  to this service, with the library's name, version and build id, the function's
  name, the week, and the coarse class of this machine. A random key that
  changes each quarter signs them.
- No user, host or program name, no path, argument, environment or time of day
  is ever sent. The server sees your IP address while you talk to it, like every
  web server.
- Only runs that begin after your answer are sent.
- The service's catalogue is fetched, and from then on refreshed automatically, as
  often as the service asks for (usually daily). The server sees your IP address
  and the time, and not which functions you look up.
You can look and undo at any time:
  fieldcost agent preview   every byte before it is sent
  fieldcost agent off       stop at once, and delete unsent data
  fieldcost sync --auto off stop refreshing the catalogue
  fieldcost agent forget    take back what was sent
  fieldcost agent leave     undo everything that joining has changed
The full statement is PRIVACY.md in /usr/share/doc/fieldcost-agent.
)";

std::string Or(const std::string& untrusted_text) {
  return untrusted_text.empty() ? "not stated" : EscapeControl(untrusted_text);
}

wire::BatchRow ExampleRow(std::string_view symbol, stats::Metric metric, std::uint32_t week,
                          std::initializer_list<std::uint64_t> values) {
  wire::BatchRow row{.api = {.soname = "libz.so.1",
                             .package_version = "1:1.2.13.dfsg-1",
                             .build_id = "0123456789abcdef0123456789abcdef01234567",
                             .symbol = std::string(symbol),
                             .symbol_version = ""},
                     .metric = metric,
                     .week = week,
                     .first_contribution = true,
                     .histogram = {}};
  for (const std::uint64_t value : values) row.histogram.Add(value);
  return row;
}

void AddSteps(const std::vector<JoinStep>& steps, JsonWriter& json) {
  json.Key("steps").Array();
  for (const JoinStep& step : steps) {
    json.Object().Key("step").Text(step.name).Key("done").Bool(step.status && !step.is_by_hand);
    json.Key("by_hand").Bool(step.is_by_hand);
    json.Key("text").Text(step.status ? step.text : step.status.error().message).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string OfferText(const ServiceOffer& offer) {
  const wire::OperatorStatement& operated_by = offer.operated_by;
  return fmt::format(
      "service       {}\noperator      {}\ncontact       {}\nprivacy       {}\n"
      "root SHA-256  {}\nCA SHA-256    {}\n\n{}",
      EscapeControl(offer.url), Or(operated_by.name), Or(operated_by.contact),
      Or(operated_by.privacy), FingerprintOf(offer.root),
      offer.authority.empty() ? "none: the authorities that this system trusts"
                              : FingerprintOf(offer.authority),
      kConsentText);
}

Result<std::string> ExampleBatchText(const stats::HardwareClass& hardware, WallTime now,
                                     const draw::Style& style) {
  const std::uint32_t week = WeekOf(now);
  volunteer::BatchDetails batch{
      .content = {.field_policy_version = 0,
                  .hardware = hardware,
                  .rows = {ExampleRow("deflate", stats::Metric::kWallTime, week, {21'000, 24'000}),
                           ExampleRow("inflate", stats::Metric::kAllocInclusive, week, {7'160})}},
      .raw = {},
      .sequence = 1};
  FIELDCOST_ASSIGN(batch.raw, wire::EncodeBatch(batch.content));
  return "\nAn example of a batch, with the class of this machine and invented numbers. Real ones "
         "look the same:\n\n" +
         PreviewText(batch, "", style);
}

std::string StepsText(const std::vector<JoinStep>& steps) {
  std::string text;
  for (const JoinStep& step : steps) {
    text += fmt::format("{:<9}  {:<10} {}\n",
                        !step.status      ? "NOT DONE"
                        : step.is_by_hand ? "TO DO"
                                          : "done",
                        step.name,
                        EscapeControl(step.status ? step.text : step.status.error().message));
  }
  return text;
}

std::string JoinJson(const ServiceOffer& offer, const std::vector<JoinStep>& steps) {
  JsonWriter json;
  json.Object().Key("url").Text(offer.url);
  json.Key("operator").Object().Key("name").Text(offer.operated_by.name);
  json.Key("contact").Text(offer.operated_by.contact);
  json.Key("privacy").Text(offer.operated_by.privacy).EndObject();
  json.Key("root_sha256").Text(FingerprintOf(offer.root));
  json.Key("authority_sha256").Text(offer.authority.empty() ? "" : FingerprintOf(offer.authority));
  AddSteps(steps, json);
  json.EndObject();
  return json.Take();
}

std::string StepsJson(const std::vector<JoinStep>& steps) {
  JsonWriter json;
  json.Object();
  AddSteps(steps, json);
  json.EndObject();
  return json.Take();
}

}  // namespace fieldcost::cli

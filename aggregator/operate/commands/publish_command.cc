// `fieldcost-aggregator publish`: publishes the store's current state.
#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "aggregator/publish/publisher.h"
#include "common/base/clock.h"

namespace fieldcost::aggregator {
namespace {

Result<Outcome> PublishStore(const Config& config, store::Store& store) {
  FIELDCOST_ASSIGN(auto publisher, publish::Publisher::Open(config.publish, SystemClock()));
  FIELDCOST_ASSIGN(const publish::PublishReport report, publisher.Publish(store));
  Outcome outcome;
  outcome.Add("version", report.version)
      .Add("rows", report.rows)
      .Add("withheld", report.withheld)
      .Add("crowded_out", report.crowded_out)
      .Add("fragments", report.fragments);
  return outcome;
}

Result<int> Publish(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const Outcome outcome,
                   WithStore(config, admin::kPublishPath, "{}",
                             [&](store::Store& store) { return PublishStore(config, store); }));
  Print(outcome, "published", arguments.Has("--json"));
  return 0;
}

}  // namespace

command::Command PublishCommand() {
  return {.name = "publish",
          .summary = "Publish the newest sums now",
          .help = R"(Example:
  fieldcost-aggregator publish --config aggregator.toml)",
          .handler = Publish};
}

}  // namespace fieldcost::aggregator

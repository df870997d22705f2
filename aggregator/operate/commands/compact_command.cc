// `fieldcost-aggregator compact`: rewrites the store, so that no removed data is left in it.
#include <fmt/format.h>
#include <unistd.h>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"

namespace fieldcost::aggregator {
namespace {

Result<int> Compact(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  const bool show = !json && ::isatty(STDERR_FILENO) == 1;
  const auto progress = [show](int done, int total) {
    if (show) fmt::print(stderr, "\rcompacting {}/{}{}", done, total, done == total ? "\n" : "");
  };
  FIELDCOST_ASSIGN(const Outcome outcome, WithStore(config, admin::kCompactPath, "{}",
                                                    [&](store::Store& store) -> Result<Outcome> {
                                                      FIELDCOST_TRY(store.Compact(progress));
                                                      return Outcome();
                                                    }));
  Print(outcome, "compacted", json);
  return 0;
}

}  // namespace

command::Command CompactCommand() {
  return {.name = "compact",
          .summary = "Rewrite the store without deleted data",
          .help = R"(Deleted data occupies space until the engine compacts it by itself.

Example:
  fieldcost-aggregator compact --config aggregator.toml)",
          .handler = Compact};
}

}  // namespace fieldcost::aggregator

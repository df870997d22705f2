// `fieldcost-aggregator publish`: publishes the store's current state, or writes the newest
// publication as a tree of files.
#include <fmt/format.h>
#include <unistd.h>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/publish/static_tree.h"
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

Result<int> WriteTree(const Config& config, const std::filesystem::path& directory, bool json) {
  const bool show = !json && ::isatty(STDERR_FILENO) == 1;
  const auto progress = [show](std::uint64_t done, std::uint64_t total) {
    if (show) fmt::print(stderr, "\rwriting {}/{}{}", done, total, done == total ? "\n" : "");
  };
  FIELDCOST_ASSIGN(
      const publish::StaticTreeReport report,
      publish::WriteStaticTree(
          {.data_dir = config.store.data_dir, .directory = directory, .progress = progress},
          SystemClock()));
  Outcome outcome;
  outcome.Add("version", report.version)
      .Add("root_version", report.root_version)
      .Add("files", report.files)
      .Add("written", report.written)
      .Add("bytes_written", report.bytes_written)
      .Add("waiting", report.waiting)
      .Add("deleted", report.deleted)
      .Add("directory", directory.string());
  Print(outcome, "wrote the tree", json);
  return 0;
}

Result<int> Publish(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  if (arguments.Has("--to")) {
    return WriteTree(config, std::filesystem::absolute(arguments.Text("--to")),
                     arguments.Has("--json"));
  }
  FIELDCOST_ASSIGN(const Outcome outcome,
                   WithStore(config, admin::kPublishPath, "{}",
                             [&](store::Store& store) { return PublishStore(config, store); }));
  Print(outcome, "published", arguments.Has("--json"));
  return 0;
}

}  // namespace

command::Command PublishCommand() {
  return {
      .name = "publish",
      .summary = "Publish the newest sums now, or write the last publication to DIR",
      .help =
          R"(With --to, nothing new is published: the newest publication, its roots and the policy are written
to DIR as files that any web server or object store can serve. Run it after each publication. Files
whose content has not changed stay, the timestamp is written last, and an interrupted run leaves
either publication complete. Files that are no longer listed stay for 48 hours; DIR/deletions lists
them with the Unix time from which copies can be deleted, too. Only one run at a time.

Examples:
  fieldcost-aggregator publish --config aggregator.toml
  fieldcost-aggregator publish --config aggregator.toml --to /srv/tree
  fieldcost-aggregator verify-tree /srv/tree)",
      .options = {{.names = "--to",
                   .value = "DIR",
                   .help = "Directory of the tree; created if absent",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty}},
      .handler = Publish};
}

}  // namespace fieldcost::aggregator

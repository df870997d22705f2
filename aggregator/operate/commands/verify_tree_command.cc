// `fieldcost-aggregator verify-tree`: checks a published tree as its clients see it.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/publish/tree_check.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kMaxRootBytes = std::size_t{64} * 1024;

std::string JsonOf(const publish::TreeReport& report, bool is_pinned) {
  JsonWriter json;
  json.Object()
      .Member("ok", report.problems.empty())
      .Member("pinned", is_pinned)
      .Member("version", report.version)
      .Member("root_version", report.root_version)
      .Member("policy_version", report.policy_version)
      .Member("files", report.files)
      .Member("bytes", report.bytes)
      .Member("fragments", report.fragments)
      .Member("rows", report.rows)
      .Member("unlisted", report.unlisted)
      .Key("problems")
      .Array();
  for (const publish::TreeProblem& problem : report.problems) {
    json.Object().Member("file", problem.file).Member("why", problem.why).EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

void PrintText(const publish::TreeReport& report, bool is_pinned) {
  for (const publish::TreeProblem& problem : report.problems) {
    PrintLines(fmt::format("{}: {}\n", EscapeControl(problem.file), EscapeControl(problem.why)));
  }
  Outcome outcome;
  outcome.Add("version", report.version)
      .Add("root_version", report.root_version)
      .Add("policy_version", report.policy_version)
      .Add("files", report.files)
      .Add("bytes", report.bytes)
      .Add("fragments", report.fragments)
      .Add("rows", report.rows)
      .Add("unlisted", report.unlisted);
  const std::string verdict =
      report.problems.empty()
          ? "the tree is good"
          : fmt::format("the tree has {}", Counted(report.problems.size(), "problem"));
  Print(outcome, verdict, false);
  if (!is_pinned) {
    PrintLines(
        "Its first root was trusted as found; with --root-sha256 or --root another service's tree "
        "is noticed, too.\n");
  }
}

Result<int> VerifyTree(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  publish::TreeCheckOptions options;
  options.pinned_sha256 = arguments.Text("--root-sha256");
  if (arguments.Has("--root")) {
    FIELDCOST_ASSIGN(options.pinned_root, ReadFile(arguments.Text("--root"), kMaxRootBytes));
    if (options.pinned_root.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "{} is empty", arguments.Text("--root"));
    }
  }
  const bool show = !json && ::isatty(STDERR_FILENO) == 1;
  options.progress = [show](std::uint64_t done, std::uint64_t total) {
    if (show) fmt::print(stderr, "\rchecking {}/{}{}", done, total, done == total ? "\n" : "");
  };
  FIELDCOST_ASSIGN(const std::unique_ptr<publish::TreeSource> source,
                   publish::OpenTree(arguments.Text("tree"), arguments.Text("--ca-file")));
  FIELDCOST_ASSIGN(const publish::TreeReport report,
                   publish::CheckTree(*source, options, SystemClock().Now()));
  const bool is_pinned = arguments.Has("--root") || arguments.Has("--root-sha256");
  if (json) {
    fmt::print("{}", JsonOf(report, is_pinned));
  } else {
    PrintText(report, is_pinned);
  }
  return report.problems.empty() ? 0 : 1;
}

}  // namespace

command::Command VerifyTreeCommand() {
  return {
      .name = "verify-tree",
      .summary = "Check a published tree, in a directory or at a URL",
      .help =
          R"(Reads what publish --to wrote, or what a server offers, as clients and agents do: signatures,
hashes, sizes, expiry, and every row of every fragment; in a directory, also all other files. Names
each problem and its file. Needs no configuration.

Exit status: 0 no problem; 1 a problem; 66 no such directory; 69 the server does not answer.

Examples:
  fieldcost-aggregator verify-tree /srv/tree
  fieldcost-aggregator verify-tree https://tree.example.org --root root --json)",
      .options = {{.names = "tree",
                   .value = "TREE",
                   .help = "Directory of publish --to, or https://host[:port]",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--root",
                   .value = "FILE",
                   .help = "A root that the tree must contain, for example publish/root/1",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .excludes = {"--root-sha256"}},
                  {.names = "--root-sha256",
                   .value = "HEX",
                   .help = "Its SHA-256",
                   .check = command::CheckSha256},
                  {.names = "--ca-file",
                   .value = "FILE",
                   .help = "Authority of the server's certificate [the system's]",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty}},
      .handler = VerifyTree,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::aggregator

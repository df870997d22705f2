// `fieldcost probe run` and `flush`: start the recorder and the collector.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clean_text.h"
#include "common/base/text.h"
#include "common/command/arguments.h"
#include "common/probe/probe_limits.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/alternate.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/run/recorder_target.h"

namespace fieldcost::cli {
namespace {

Status CheckName(const std::string& untrusted_text, std::size_t max_bytes) {
  if (!untrusted_text.empty() && IsText(untrusted_text, max_bytes)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected 1 to {} bytes of text on one line", max_bytes);
}

Status CheckTag(std::string& untrusted_text) {
  return CheckName(untrusted_text, probe::kMaxTagBytes);
}
Status CheckBuild(std::string& untrusted_text) {
  return CheckName(untrusted_text, probe::kMaxBuildBytes);
}

Status CheckTags(const command::Arguments& arguments) {
  if (arguments.Texts("--tag").size() <= probe::kMaxTags) return {};
  return Fail(ErrorCode::kInvalidArgument, "at most 8 tags");
}

Result<int> RunProbeRun(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::filesystem::path recorder, FindProbeProgram());
  FIELDCOST_ASSIGN(const std::filesystem::path library, FindProbeLibrary());
  FIELDCOST_TRY(CheckRecordable(arguments.program()[0]));
  std::vector<std::string> words = {recorder.string(), "record", "--library",
                                    library.string(),  "--runs", arguments.Text("--runs")};
  if (arguments.Has("--points")) {
    words.insert(words.end(), {"--points", arguments.Text("--points")});
  }
  for (const std::string& tag : arguments.Texts("--tag")) words.insert(words.end(), {"--tag", tag});
  if (arguments.Has("--build")) words.insert(words.end(), {"--build", arguments.Text("--build")});
  if (arguments.Has("--input")) words.insert(words.end(), {"--input", arguments.Text("--input")});
  if (arguments.Has("--local")) words.emplace_back("--local");
  if (arguments.Has("--stacks")) words.emplace_back("--stacks");
  return Become(std::move(words), arguments.program());
}

}  // namespace

command::Command ProbeRunCommand() {
  return {
      .name = "run",
      .summary = "Run a program and record the points it passes",
      .help =
          R"(Points are those in the source (fieldcost/probe.h), those that a file names ([[point]] label, event,
at = "LIBRARY!FUNCTION", when, begins, ends, stack, value), and automatic ones: start, loaded, main,
first output, dlopen, exec, exit. The last two kinds need no rebuild. The program never blocks:
points that do not fit are dropped and counted, and their events are marked incomplete. With several
runs, each reads all of standard input, which must not be a pipe, or of --input FILE. A terminal is
no error, since most programs never read it; each run reads what is typed meanwhile.

The recording stays on this machine (fieldcost probe list); with `fieldcost probe on` it is also sent
to the server you are logged in to. It is not anonymous. Examples:
  fieldcost probe run --local -- ./editor notes.txt
  fieldcost probe run --tag cold --build 1.3 --runs 10 -- ./editor
  fieldcost probe run --points probe.toml --stacks -- ./editor)",
      .options = {{.names = "--points",
                   .value = "FILE",
                   .help = "Names points and selects automatic ones (probe.toml)",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--tag,-t",
                   .value = "TAG",
                   .help = "Distinguishes these runs from others, such as \"cold\"; up to 8",
                   .check = CheckTag,
                   .repeats = true},
                  {.names = "--build,-b",
                   .value = "NAME",
                   .help = "The program's version [prefix of its build ID]",
                   .check = CheckBuild},
                  RunsOption("Number of runs (10 for comparisons)", "1"),
                  InputOption(),
                  {.names = "--stacks", .help = "Also take stacks at points in the source"},
                  {.names = "--local", .help = "Never send these runs; needs no consent"}},
      .handler = RunProbeRun,
      .without = {"--json", "--csv", "--no-pager", "--color"},
      .takes_program = true,
      .check = CheckTags};
}

command::Command ProbeFlushCommand() {
  return {
      .name = "flush",
      .summary = "Collect events from memory and send queued batches now",
      .help =
          R"(Includes events left by killed recorders. Fails if a batch could not be sent; it stays queued.
Example:
  fieldcost probe flush)",
      .handler = [](const command::Arguments&) -> Result<int> {
        FIELDCOST_ASSIGN(const std::filesystem::path collector, FindProbeProgram());
        return Become({collector.string(), "collect", "--once", "--now"}, {});
      },
      .without = {"--json", "--csv", "--no-pager", "--color"}};
}

}  // namespace fieldcost::cli

// `fieldcost tree compare`: records two programs alternately, and compares them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/run/two_commands.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/comparison.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/trace_options.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

using Command = TwoCommands::Command;

// The directory of recordings: that of --keep, else one that is removed at the end.
class RecordingDirectory {
 public:
  static Result<RecordingDirectory> Make(const std::string& kept) {
    RecordingDirectory made;
    if (!kept.empty()) {
      made.path_ = kept;
      FIELDCOST_TRY(MakeDirectories(made.path_, 0700));
      return made;
    }
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "fieldcost-compare-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return ErrnoError("make", name, errno);
    made.path_ = name;
    made.is_temporary_ = true;
    return made;
  }
  ~RecordingDirectory() {
    std::error_code ignored;
    if (is_temporary_) fs::remove_all(path_, ignored);
  }
  RecordingDirectory(RecordingDirectory&& other) noexcept
      : path_(std::move(other.path_)), is_temporary_(std::exchange(other.is_temporary_, false)) {}
  RecordingDirectory& operator=(RecordingDirectory&&) = delete;

  fs::path FileOf(const Command& command, std::uint64_t run) const {
    return path_ / fmt::format("{}-{}.fct", command.name, run + 1);
  }

 private:
  RecordingDirectory() = default;
  fs::path path_;
  bool is_temporary_ = false;
};

class TraceRecorder {
 public:
  static Result<TraceRecorder> Make(const command::Arguments& arguments) {
    FIELDCOST_ASSIGN(TurnRunner runner, TurnRunner::Make(arguments));
    TraceRecorder made(std::move(runner));
    FIELDCOST_ASSIGN(made.words_, TraceWords(arguments));
    made.words_.emplace_back("--quiet");
    return made;
  }

  Status Record(const Command& command, std::uint64_t run, const fs::path& file) {
    std::vector<std::string> words = words_;
    // Missing measurements are reported once.
    if (std::exchange(has_reported_, true)) words.emplace_back("--counters-reported");
    words.insert(words.end(), {"--output", file.string(), "--"});
    return runner_.Run(std::move(words), command, run);
  }

 private:
  explicit TraceRecorder(TurnRunner runner) : runner_(std::move(runner)) {}
  std::vector<std::string> words_;
  bool has_reported_ = false;
  TurnRunner runner_;
};

// The counts of each run, added over all runs: "cut stacks: 3".
std::vector<std::string> SumUp(const std::vector<std::string>& remarks) {
  std::map<std::string, std::uint64_t> sums;
  std::vector<std::string> result;
  for (const std::string& remark : remarks) {
    const std::size_t mark = remark.rfind(": ");
    const auto count =
        mark == std::string::npos ? std::nullopt : ParseUint64(remark.substr(mark + 2));
    if (count) {
      sums[remark.substr(0, mark)] += *count;
    } else if (std::ranges::find(result, remark) == result.end()) {
      result.push_back(remark);
    }
  }
  for (const auto& [name, sum] : sums) result.push_back(fmt::format("{}: {}", name, sum));
  return result;
}

Result<int> RunTreeCompare(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const TwoCommands commands,
                   SplitCommands(arguments.program(), "fieldcost tree compare"));
  FIELDCOST_ASSIGN(TraceRecorder recorder, TraceRecorder::Make(arguments));
  for (const Command& command : commands.both) RemarkOnEvents(arguments, command.words);
  FIELDCOST_ASSIGN(const auto directory, RecordingDirectory::Make(arguments.Text("--keep")));
  const std::uint64_t runs = *arguments.Number("--runs");
  Progress progress("run");
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (const std::size_t turn : {std::size_t{0}, std::size_t{1}}) {
      const Command& command = commands.both[SideOf(run, turn)];
      FIELDCOST_TRY(recorder.Record(command, run, directory.FileOf(command, run)));
      progress(2 * run + turn + 1, 2 * runs);
    }
  }
  std::vector<std::string> remarks;
  std::vector<TreeSide> sides;
  for (const Command& command : commands.both) {
    // Functions of the old program that are called differently in the new one.
    const SideOptions options{.rules = &command == commands.both.data()
                                           ? arguments.Texts("--rename")
                                           : std::vector<std::string>(),
                              .by = DivideByOf(arguments.Text("--by"))};
    std::vector<TreeSide> each;
    for (std::uint64_t run = 0; run < runs; ++run) {
      FIELDCOST_ASSIGN(TreeSide one,
                       LoadTreeSide(directory.FileOf(command, run).string(), options, remarks));
      each.push_back(std::move(one));
    }
    FIELDCOST_ASSIGN(TreeSide side, JoinSides(std::move(each)));
    sides.push_back(std::move(side));
  }
  return PutComparison({.before = std::move(sides[0]),
                        .after = std::move(sides[1]),
                        .named = "the old and the new program",
                        .order = report::RunOrder::kAlternated,
                        .remarks = SumUp(remarks)},
                       arguments.Text("--metric"), arguments);
}

}  // namespace

command::Command TreeCompareCommand() {
  command::Command compare{
      .name = "compare",
      .summary = "Run two programs alternately, and show what costs more in the second",
      .help =
          R"(Records them alternately like fieldcost trace, --runs times; their output is not shown. Each run
reads all of standard input, which must be a file, or of --input FILE. Then compares like fieldcost
tree diff, including the exit status: 1 if the whole or a path costs significantly more.
Disturbances of the machine affect both. Examples:
  fieldcost tree compare -- ./old args -- ./new args
  fieldcost tree compare --runs 20 --keep runs -- ./old args -- ./new args
  fieldcost tree compare --by thread -- ./old args -- ./new args
  fieldcost tree compare --events functions --metric calls -- ./old -- ./new)",
      .options = TraceRunOptions("499", "10"),
      .handler = RunTreeCompare,
      .takes_program = true};
  compare.options.push_back(DivideByOption());
  compare.options.push_back(ComparedMetricOption());
  compare.options.push_back(RenameOption());
  AddComparisonOptions(compare);
  compare.options.push_back({.names = "--keep",
                             .value = "DIRECTORY",
                             .help = "Keep the recordings in DIRECTORY: old-1.fct, new-1.fct, ...",
                             .completes = command::Completes::kFiles,
                             .check = command::CheckNotEmpty});
  compare.options.push_back(InputOption());
  compare.options.push_back(
      {.names = "--show-output", .help = "Connect the programs to the terminal"});
  return compare;
}

}  // namespace fieldcost::cli

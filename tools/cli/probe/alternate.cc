#include "tools/cli/probe/alternate.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "agent/reach/reach.h"
#include "common/base/clean_text.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/probe/probe_limits.h"
#include "tools/cli/probe/sides.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/run/two_commands.h"
#include "tools/cli/terminal/progress.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

// As the recorder names the runs of a program.
std::string ProgramOf(const std::string& word) {
  std::error_code error;
  const fs::path path = fs::canonical(reach::FindProgram(word), error);
  return error ? std::string() : CleanText(path.filename().string(), probe::kMaxProgramBytes);
}

class ProbeRecorder {
 public:
  static Result<ProbeRecorder> Make(const command::Arguments& arguments) {
    FIELDCOST_ASSIGN(TurnRunner runner, TurnRunner::Make(arguments));
    ProbeRecorder made(std::move(runner));
    FIELDCOST_ASSIGN(const fs::path recorder, FindProbeProgram());
    FIELDCOST_ASSIGN(const fs::path library, FindProbeLibrary());
    made.words_ = {recorder.string(), "record", "--local", "--library", library.string()};
    if (arguments.Has("--points")) {
      made.words_.insert(made.words_.end(), {"--points", arguments.Text("--points")});
    }
    return made;
  }

  // Returns the session in which the run is recorded.
  Result<std::uint64_t> Record(const TwoCommands::Command& command, std::uint64_t run) {
    std::uint64_t session = crypto::RandomUint64() | 1;
    std::vector<std::string> words = words_;
    // The remarks of the first run on points apply to all runs.
    if (run != 0) words.emplace_back("--quiet");
    words.insert(words.end(), {"--session", std::to_string(session), "--"});
    FIELDCOST_TRY(runner_.Run(std::move(words), command, run));
    return session;
  }

 private:
  explicit ProbeRecorder(TurnRunner runner) : runner_(std::move(runner)) {}
  std::vector<std::string> words_;
  TurnRunner runner_;
};

}  // namespace

Status CheckRecordable(const std::string& program) {
  const fs::path path = reach::FindProgram(program);
  if (path.empty()) {
    return Fail(ErrorCode::kNotFound, "cannot run {}: no such program", EscapeControl(program));
  }
  const auto why = reach::ExplainProgram(path);
  if (!why || why->reach == reach::Reach::kAble || why->reach == reach::Reach::kNotProgram ||
      why->reach == reach::Reach::kUnreadable) {
    return {};
  }
  return Fail(ErrorCode::kUnsupported, "{}: its points cannot be recorded: {}",
              EscapeControl(program), Phrase(why->reach));
}

Result<probe::ComparedSides> CompareAlternately(const command::Arguments& arguments, double least) {
  FIELDCOST_ASSIGN(const TwoCommands commands,
                   SplitCommands(arguments.program(), "fieldcost probe compare"));
  for (const TwoCommands::Command& command : commands.both) {
    FIELDCOST_TRY(CheckRecordable(command.words[0]));
  }
  FIELDCOST_ASSIGN(ProbeRecorder recorder, ProbeRecorder::Make(arguments));
  const std::uint64_t runs = *arguments.Number("--runs");
  std::array<std::vector<std::uint64_t>, 2> sessions;
  Progress progress("run");
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (const std::size_t turn : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t side = SideOf(run, turn);
      FIELDCOST_ASSIGN(const std::uint64_t session, recorder.Record(commands.both[side], run));
      sessions[side].push_back(session);
      progress(2 * run + turn + 1, 2 * runs);
    }
  }
  return CompareRecorded({.base = std::move(sessions[0]),
                          .changed = std::move(sessions[1]),
                          .base_program = ProgramOf(commands.both[0].words[0]),
                          .new_program = ProgramOf(commands.both[1].words[0]),
                          .label = arguments.Text("--label"),
                          .least = least});
}

}  // namespace fieldcost::cli

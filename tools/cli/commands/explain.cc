// `fieldcost agent explain`: why a program or process is, or is not, measured.
#include <unistd.h>

#include "agent/daemon/agent.h"
#include "agent/reach/reach.h"
#include "agent/settings/memory_dir.h"
#include "common/base/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/pager.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct Request {
  std::string subject;  // a program, or the number of a process
};

constexpr int kAnswerIsNo = 1;

struct Explained {
  std::string subject;  // escaped
  agent::Explanation why;
  std::optional<pid_t> pid;
};

Result<Explained> Explain(const std::string& subject, const agent::AgentPaths& paths) {
  const auto number = ParseUint64(subject);
  if (number && *number > 0 && *number <= INT32_MAX) {
    FIELDCOST_ASSIGN(const agent::ProcessReach process,
                     agent::ExplainProcess({.run_dir = paths.run_dir(), .uid = ::getuid()},
                                           static_cast<pid_t>(*number)));
    return Explained{
        fmt::format("process {} ({})", process.pid, EscapeControl(process.untrusted_name)),
        process.why, process.pid};
  }
  const std::filesystem::path path = agent::FindProgram(subject);
  if (path.empty()) return Fail(ErrorCode::kNotFound, "{}: not found in PATH", subject);
  FIELDCOST_ASSIGN(agent::Explanation why, agent::ExplainProgram(path));
  std::string name = EscapeControl(path.string());
  if (why.program != path) {
    name += fmt::format(", run by {}", EscapeControl(why.program.string()));
  }
  return Explained{std::move(name), std::move(why), std::nullopt};
}

Result<int> Run(const Request& command, const Output& output) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const Explained explained, Explain(command.subject, paths));
  const agent::Reach reach = explained.why.reach;
  const bool can = reach == agent::Reach::kAble || reach == agent::Reach::kMeasuring;
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(ExplanationJson(explained.why, explained.pid)));
  } else {
    std::string text = fmt::format("{}: {}\n", explained.subject, ReasonText(explained.why));
    const auto consent = agent::EffectiveConsent(paths);
    if (can && consent && consent->mode == agent::Mode::kOff) {
      text += "but fieldcost is off: fieldcost agent local|on\n";
    } else if (const auto memory = agent::FindMemoryDir(paths); can && !memory) {
      text += "but " + memory.error().message + "\n";
    }
    FIELDCOST_TRY(WritePaged(text, output));
  }
  return can ? 0 : kAnswerIsNo;
}

}  // namespace

command::Command AgentExplainCommand() {
  return {.name = "explain",
          .summary = "Why a program or process is, or is not, measured",
          .help = R"(Exit status 1: it cannot be measured.
Examples:
  fieldcost agent explain sudo
  fieldcost agent explain $$)",
          .options = {{.names = "subject",
                       .value = "PROGRAM|PID",
                       .help = "Program (looked up in PATH) or process id",
                       .completes = command::Completes::kPrograms,
                       .required = true}},
          .handler =
              [](const command::Arguments& arguments) {
                return Run({.subject = arguments.Text("subject")}, OutputOf(arguments));
              },
          .without = {"--csv"}};
}

}  // namespace fieldcost::cli

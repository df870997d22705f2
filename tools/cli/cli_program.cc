// The whole command line: options of the program itself, its commands, and error reporting.
#include <signal.h>

#include <algorithm>
#include <variant>

#include "common/command/parse.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kCompleteWord[] = "__complete";  // hidden; only for completion scripts

constexpr char kSummary[] =
    R"(fieldcost: what library functions really cost, measured in the field.
Nothing is measured or sent unless you switch it on (fieldcost agent on).)";

constexpr char kHelp[] = R"(Examples:
  fieldcost agent local                 measure on this machine, send nothing
  fieldcost run -- sqlite3 my.db        run a program, measure a few of its APIs
  fieldcost agent session on            from your next login, without `run`
  fieldcost sync --full                 fetch the published catalogue
  fieldcost top --limit 40              the most expensive APIs
  fieldcost show sqlite3_step           one API in detail
  fieldcost search prepare              APIs whose names contain it
  fieldcost diff sqlite3                what changed in its newest version

Exit status: 0 success; 1 negative result (agent explain: cannot be measured; agent forget: not all
could be taken back; agent forget, probe purge: you declined; check: something is worse; diff, idle
diff, tree diff, tree compare, measure --diff-base: something costs more; probe compare
--fail-above: slower); 2 too little data for any answer (the same, from check on); 64 wrong usage or
argument; 65 corrupt or oversized data; 66 not found (no catalogue, unknown API or version, no such
batch); 69 server not available, or too many files open; 70 internal error; 73 already exists; 74
disk or socket failure; 75 timed out; 76 invalid signature or certificate; 77 permission denied; 78
not supported. `fieldcost run` exits with the program's status (127 program not found, 126 cannot be
run, 128+N killed by signal N, as in a shell).

Environment: FIELDCOST_HOME (another profile directory), FIELDCOST_PRELOAD_LIBRARY,
FIELDCOST_QUIET (no message when nothing is measured), NO_COLOR, FIELDCOST_PAGER, PAGER, LESS.)";

int Report(const Error& error, bool json) {
  if (json) {
    // Prints exactly one JSON value on stdout in this case, too, so that scripts read only stdout.
    static_cast<void>(WriteStdout(ErrorJson(error)));
  } else {
    Remark(error.message);
  }
  return ExitStatus(error.code);
}

int PrintAnswer(const command::Answer& answer, bool json) {
  if (!answer.errors.empty()) {
    return Report({ErrorCode::kInvalidArgument, answer.errors}, json);
  }
  const Status written =
      WriteStdout(draw::WrapLines(answer.output, StdoutStyle(draw::ColorChoice::kNever)));
  return written ? answer.exit_status : Report(written.error(), false);
}

}  // namespace

command::Command Program() {
  return {
      .name = "fieldcost",
      .summary = kSummary,
      .help = kHelp,
      .options = {{.names = "--json", .help = "Print JSON; sums are exact decimal strings"},
                  {.names = "--csv",
                   .help = "Print comma-separated values (RFC 4180), where the output is a table",
                   .excludes = {"--json"}},
                  {.names = "--no-pager", .help = "Do not use a pager"},
                  {.names = "--color",
                   .value = "WHEN",
                   .help = "When to use colour (auto: on a terminal, unless NO_COLOR is set)",
                   .default_text = "auto",
                   .choices = {"auto", "always", "never"}}},
      .commands = {AgentCommand(),    RunCommand(),    MeasureCommand(), MergeCommand(),
                   TraceCommand(),    TreeCommand(),   IdleCommand(),    ProbeCommand(),
                   SyncCommand(),     ShowCommand(),   TopCommand(),     HistCommand(),
                   SpectrumCommand(), SearchCommand(), CheckCommand(),   DiffCommand(),
                   ReportCommand(),   DocsCommand(),   ManCommand(),     CompletionCommand()}};
}

int Main(std::vector<std::string> arguments) {
  const command::Command program = Program();
  if (!arguments.empty() && arguments[0] == kCompleteWord) {
    arguments.erase(arguments.begin());
    const Status printed = PrintCompletion(program, arguments);
    return printed ? 0 : Report(printed.error(), false);
  }
  // Also applies if the command line cannot be parsed.
  const bool json =
      std::find(arguments.begin(), std::find(arguments.begin(), arguments.end(), "--"), "--json") !=
      std::find(arguments.begin(), arguments.end(), "--");
  const auto parsed = command::Parse(program, FIELDCOST_VERSION, std::move(arguments));
  if (const auto* answer = std::get_if<command::Answer>(&parsed)) return PrintAnswer(*answer, json);
  const auto& call = std::get<command::Call>(parsed);
  // A closed pipe or connection must fail write() instead of ending this process. A program started
  // by `run` must not inherit this.
  if (!call.command->takes_program) ::signal(SIGPIPE, SIG_IGN);
  EraseLeftStacks(*call.command);
  const Result<int> status = call.command->handler(call.arguments);
  return status ? *status : Report(status.error(), call.arguments.Has("--json"));
}

}  // namespace fieldcost::cli

#include "tools/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "tools/cli/pick.h"

namespace fieldcost::cli {
namespace {

constexpr char kAbout[] =
    "fieldcost: what library functions really cost, measured in the field.\n"
    "Nothing is measured or sent unless you switch it on (fieldcost agent on).";

constexpr char kFooter[] =
    "Examples:\n"
    "  fieldcost agent local                 measure on this machine, send nothing\n"
    "  fieldcost run -- sqlite3 my.db        run a program and measure a few of its APIs\n"
    "  fieldcost agent session on            from the next login on, without `run`\n"
    "  fieldcost sync --full                 fetch the published catalogue\n"
    "  fieldcost top --limit 40              the dearest APIs\n"
    "  fieldcost show sqlite3_step           one API in detail\n"
    "\n"
    "Exit status:\n"
    "  0 success; 1 the answer is no (agent explain); 64 wrong usage or argument; 65 corrupt or\n"
    "  oversized data; 66 not found (no catalogue, unknown API); 69 server not available; 70\n"
    "  internal error; 73 exists already; 74 disk or socket failure; 75 not finished in time; 76 "
    "a\n"
    "  signature or certificate does not verify; 77 permission denied; 78 not supported.\n"
    "  `fieldcost run` exits as its program does\n"
    "  (127 program not found, 126 cannot be run, 128+N ended by signal N as a shell shows it).\n"
    "\n"
    "Environment: FIELDCOST_HOME (another profile directory), FIELDCOST_PRELOAD_LIBRARY,\n"
    "FIELDCOST_QUIET (no remark when nothing is measured), NO_COLOR.";

// What CLI11 writes into; turned into a CommandLine once parsing has succeeded.
struct Raw {
  bool json = false;
  std::string color = "auto";
  bool preview_raw = false;
  AgentStatusCommand agent_status;
  AgentExplainCommand explain;
  RunCommand run;
  SyncCommand sync;
  ShowCommand show;
  TopCommand top;
  std::string sort = "total";
};

struct Parser {
  explicit Parser(Raw& raw);

  CLI::App app{kAbout, "fieldcost"};
  CLI::App* agent;
  CLI::App* on;
  CLI::App* local;
  CLI::App* off;
  CLI::App* status;
  CLI::App* explain;
  CLI::App* session;
  CLI::App* session_on;
  CLI::App* session_off;
  CLI::App* session_status;
  CLI::App* preview;
  CLI::App* run;
  CLI::App* sync;
  CLI::App* show;
  CLI::App* top;
};

std::string ValidatePick(const std::string& text) {
  const Status status = CheckPick(text);
  return status ? "" : status.error().message;
}

std::string ValidateMetrics(std::string& text) {
  auto metrics = NormalizeMetrics(text);
  if (!metrics) return metrics.error().message;
  text = *metrics;
  return "";
}

Parser::Parser(Raw& raw) {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", std::string("fieldcost ") + FIELDCOST_VERSION);
  app.add_flag("--json", raw.json, "Print JSON; sums are exact decimal strings");
  app.add_option("--color", raw.color, "Colours: auto (a terminal, no NO_COLOR), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.footer(kFooter);

  agent = app.add_subcommand("agent", "Consent, state, and what would be sent")->fallthrough();
  agent->require_subcommand(0, 1);
  agent->footer(
      "Examples:\n"
      "  fieldcost agent status\n"
      "  fieldcost agent session on    measure programs of the next logins, not only under `run`\n"
      "  fieldcost agent off           stop measuring, delete what was not sent");
  on = agent->add_subcommand("on", "Measure, and send sums to the configured server");
  on->footer(
      "What is sent: names and versions of public libraries and functions, sums of their costs,\n"
      "the week, and the machine's coarse class. Example:\n"
      "  fieldcost agent on && fieldcost agent preview");
  local = agent->add_subcommand("local", "Measure, send nothing");
  local->footer(
      "Example:\n  fieldcost agent local && fieldcost run -- make && fieldcost top --local");
  off = agent->add_subcommand("off", "Measure nothing; delete what was not sent");
  off->footer(
      "The files of `fieldcost agent session on` stay: the library does nothing while off.\n"
      "Example:\n  fieldcost agent off && fieldcost agent session off");
  status = agent->add_subcommand("status", "Mode, what is waiting, and which programs are reached");
  status->add_flag("--programs,-v,--verbose", raw.agent_status.programs,
                   "Also names of programs, for each reason why they are not measured");
  status->footer(
      "Examples:\n"
      "  fieldcost agent status\n"
      "  fieldcost agent status --programs\n"
      "  fieldcost agent status --json");
  explain = agent->add_subcommand("explain", "Why a program or a process is, or is not, measured");
  explain->add_option("subject", raw.explain.subject, "Program (looked up in PATH) or process id")
      ->required()
      ->type_name("PROGRAM|PID");
  explain->footer(
      "Exit status 1: it cannot be measured.\n"
      "Examples:\n"
      "  fieldcost agent explain sudo\n"
      "  fieldcost agent explain $$");
  session = agent->add_subcommand("session", "Measure all programs of this user's next logins");
  session->require_subcommand(0, 1);
  session->footer(
      "Opt-in. Writes only into your own directories; off restores every byte.\n"
      "Examples:\n"
      "  fieldcost agent local && fieldcost agent session on\n"
      "  fieldcost agent session status");
  session_on = session->add_subcommand("on", "Let programs of the next logins take part");
  session_on->footer(
      "Copies the measuring library into the state directory; writes "
      "environment.d/60-fieldcost.conf\n"
      "(desktop, user services) and session.sh (login shells), and adds one marked line to\n"
      "~/.profile, and to ~/.bash_profile, ~/.bash_login and ~/.zprofile if you have them.\n"
      "Run it again after an upgrade to refresh the copy. Example:\n"
      "  fieldcost agent session on");
  session_off = session->add_subcommand("off", "Take it all back");
  session_off->footer(
      "The library itself stays as long as programs of running sessions name it: without it each\n"
      "would print a complaint of the dynamic linker. Example:\n"
      "  fieldcost agent session off");
  session_status = session->add_subcommand("status", "Which files there are");
  session_status->footer("Example:\n  fieldcost agent session status --json");
  preview = agent->add_subcommand("preview", "The next batch, exactly as it would be sent");
  preview->add_flag("--raw", raw.preview_raw, "Write the request body itself to stdout");
  preview->footer(
      "Examples:\n"
      "  fieldcost agent preview\n"
      "  fieldcost agent preview --raw | zstd -d | protoc --decode_raw");
  for (CLI::App* command : {on, local, off, status, explain, session, session_on, session_off,
                            session_status, preview}) {
    command->fallthrough();
  }

  run = app.add_subcommand("run", "Run a program (given after --) and measure a few of its APIs")
            ->fallthrough();
  run->add_option("--pick", raw.run.pick,
                  "Measure these APIs, not a random few:\n"
                  "globs soname!symbol, comma-separated.\n"
                  "Such a run stays on this machine")
      ->check(CLI::Validator(ValidatePick, ""))
      ->type_name("GLOB,...");
  run->add_option("--metrics", raw.run.metrics,
                  "What to measure, comma-separated: time;\n"
                  "alloc (bytes allocated); io (bytes of file\n"
                  "and network I/O); cycles")
      ->transform(CLI::Validator(ValidateMetrics, ""))
      ->type_name("METRICS");
  run->footer(
      "Form: fieldcost run [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
      "Examples:\n"
      "  fieldcost run -- python3 report.py\n"
      "  fieldcost run --pick 'libsqlite3.so.0!sqlite3_*' -- sqlite3 my.db < script.sql\n"
      "  fieldcost run --pick 'libz.so.1!deflate' --metrics time,alloc,io -- git gc");

  sync = app.add_subcommand("sync", "Refresh the local copy of the catalogue")->fallthrough();
  sync->add_flag("--full", raw.sync.full, "Everything now, instead of today's share");
  sync->add_option("--api", raw.sync.api, "Also the part with this API at once")
      ->type_name("SONAME!SYMBOL");
  sync->footer(
      "Examples:\n"
      "  fieldcost sync           today's share, at most once a day\n"
      "  fieldcost sync --full\n"
      "  fieldcost sync --api 'libsqlite3.so.0!sqlite3_step'");

  show = app.add_subcommand("show", "One API: quantiles, histogram, versions")->fallthrough();
  show->add_option("api", raw.show.api, "Symbol, or soname!symbol")->required()->type_name("API");
  show->add_flag("--local", raw.show.local, "This machine's own measurements");
  show->footer(
      "Examples:\n"
      "  fieldcost show sqlite3_step\n"
      "  fieldcost show 'libsqlite3.so.0!sqlite3_step' --json");

  top = app.add_subcommand("top", "The cost table")->fallthrough();
  top->add_flag("--local", raw.top.local, "This machine's own measurements");
  top->add_option("--library", raw.top.library, "Only this library (glob)")->type_name("SONAME");
  top->add_option("--limit", raw.top.limit, "Lines at most; 0 = all")->capture_default_str();
  top->add_option("--sort", raw.sort, "calls, p50, p95, p99, mean or total (time)")
      ->check(CLI::IsMember({"calls", "p50", "p95", "p99", "mean", "total"}))
      ->capture_default_str();
  top->footer(
      "Examples:\n"
      "  fieldcost top --limit 40\n"
      "  fieldcost top --library 'libsqlite3*' --sort p99\n"
      "  fieldcost top --local --json");
}

CommandLine Interpret(const Parser& parser, Raw& raw) {
  CommandLine line;
  line.json = raw.json;
  if (raw.color == "always") line.color = report::ColorChoice::kAlways;
  if (raw.color == "never") line.color = report::ColorChoice::kNever;
  if (parser.run->parsed()) {
    line.command = std::move(raw.run);
  } else if (parser.sync->parsed()) {
    line.command = std::move(raw.sync);
  } else if (parser.show->parsed()) {
    line.command = std::move(raw.show);
  } else if (parser.top->parsed()) {
    raw.top.sort = report::ParseSortKey(raw.sort).value_or(report::SortKey::kTotal);
    line.command = std::move(raw.top);
  } else if (parser.status->parsed()) {
    line.command = raw.agent_status;
  } else if (parser.explain->parsed()) {
    line.command = std::move(raw.explain);
  } else if (parser.session_on->parsed()) {
    line.command = AgentSessionCommand{SessionAction::kOn};
  } else if (parser.session_off->parsed()) {
    line.command = AgentSessionCommand{SessionAction::kOff};
  } else if (parser.session_status->parsed()) {
    line.command = AgentSessionCommand{SessionAction::kStatus};
  } else if (parser.preview->parsed()) {
    line.command = AgentPreviewCommand{raw.preview_raw};
  } else if (parser.on->parsed()) {
    line.command = AgentModeCommand{daemon::Mode::kOn};
  } else if (parser.local->parsed()) {
    line.command = AgentModeCommand{daemon::Mode::kLocal};
  } else {
    line.command = AgentModeCommand{daemon::Mode::kOff};
  }
  return line;
}

Answer UsageError(const std::string& why) {
  return {ExitStatus(ErrorCode::kInvalidArgument), "", why + " (see fieldcost --help)"};
}

}  // namespace

std::variant<CommandLine, Answer> ParseCommandLine(std::vector<std::string> arguments) {
  // What follows the first "--" is somebody else's command line and none of CLI11's business.
  std::optional<std::vector<std::string>> program;
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) {
    program.emplace(std::make_move_iterator(mark + 1), std::make_move_iterator(arguments.end()));
    arguments.erase(mark, arguments.end());
  }
  Raw raw;
  Parser parser(raw);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    parser.app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    std::ostringstream output;
    std::ostringstream errors;
    const int status = parser.app.exit(error, output, errors);
    if (status == 0) return Answer{0, output.str(), ""};
    return UsageError(error.what());
  }
  if (parser.app.get_subcommands().empty()) {
    return UsageError("a command is needed: agent, run, sync, show or top");
  }
  if (parser.agent->parsed() && parser.agent->get_subcommands().empty()) {
    return UsageError("agent needs one of on, local, off, status, explain, session, preview");
  }
  if (parser.session->parsed() && parser.session->get_subcommands().empty()) {
    return UsageError("agent session needs one of on, off, status");
  }
  if (parser.run->parsed() != program.has_value()) {
    return UsageError(program ? "only `run` takes a program after --"
                              : "put the program after --: fieldcost run -- PROGRAM");
  }
  if (program && program->empty()) return UsageError("no program after --");
  if (program) raw.run.arguments = std::move(*program);
  return Interpret(parser, raw);
}

}  // namespace fieldcost::cli

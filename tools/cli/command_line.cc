#include "tools/cli/command_line.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "common/base/error.h"
#include "tools/analysis/selection.h"
#include "tools/analysis/summary.h"
#include "tools/cli/command_line_parser.h"
#include "tools/cli/command_tree.h"
#include "tools/cli/pick.h"

namespace fieldcost::cli {
namespace {

constexpr char kCompleteWord[] = "__complete";  // hidden: of the completion scripts only

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

}  // namespace

Parser::Parser() {
  app_.require_subcommand(0, 1);
  app_.set_version_flag("--version", std::string("fieldcost ") + FIELDCOST_VERSION);
  CLI::Option* json =
      app_.add_flag("--json", line_.json, "Print JSON; sums are exact decimal strings");
  app_.add_flag("--csv", line_.csv,
                "Print comma-separated values (RFC 4180), where there is a table")
      ->excludes(json);
  app_.add_flag("!--no-pager", line_.pager, "Print long output at once, not through a pager");
  app_.add_option("--color", color_, "Colours: auto (a terminal, no NO_COLOR), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app_.footer(help::kMain);
  AddAgent();
  AddRun();
  AddCatalogue();
  AddLookUps();
  AddCheck();
  AddDiff();
  AddReport();
  AddDocs();
  AddCompletion();
}

void Parser::AddAgent() {
  agent_ =
      app_.add_subcommand("agent", "Consent, state, what is sent, and undoing it")->fallthrough();
  agent_->require_subcommand(0, 1);
  agent_->footer(help::kAgent);
  AddDecisions(*agent_);
  AddLooks(*agent_);
  AddSession(*agent_);
  AddUndo(*agent_);
}

void Parser::AddDecisions(CLI::App& agent) {
  Add(agent, "on", "Measure, and send sums to the configured server", help::kOn, on_);
  Add(agent, "local", "Measure, send nothing", help::kLocal, local_);
  Add(agent, "off", "Measure nothing; delete what was not sent", help::kOff, off_);
}

void Parser::AddLooks(CLI::App& agent) {
  CLI::App* status = Add(agent, "status", "Mode, what is waiting, and which programs are reached",
                         help::kStatus, status_);
  status->add_flag("--programs,-v,--verbose", status_.programs,
                   "Also names of programs, for each reason why they are not measured");
  CLI::App* explain = Add(agent, "explain", "Why a program or a process is, or is not, measured",
                          help::kExplain, explain_);
  explain->add_option("subject", explain_.subject, "Program (looked up in PATH) or process id")
      ->required()
      ->type_name("PROGRAM|PID");
  CLI::App* preview = Add(agent, "preview", "The next batch, exactly as it would be sent",
                          help::kPreview, preview_);
  preview->add_flag("--raw", preview_.raw, "Write the request body itself to stdout");
  CLI::App* log =
      Add(agent, "log", "All batches, when they were sent; or one of them", help::kLog, log_);
  CLI::Option* id =
      log->add_option("id", log_.id, "A batch of that list, in full")->type_name("ID");
  log->add_flag("--raw", log_.raw, "Write that batch's bytes to stdout")->needs(id);
  CLI::App* view =
      Add(agent, "view", "Your own costs as a page for the browser", help::kView, view_);
  view->add_option("--output", view_.output,
                   "Write it there (- = stdout), not into the state directory")
      ->type_name("FILE");
  view->add_flag("--open", view_.open, "Open it in the browser (xdg-open)");
}

void Parser::AddSession(CLI::App& agent) {
  session_ = agent.add_subcommand("session", "Measure all programs of this user's next logins")
                 ->fallthrough();
  session_->require_subcommand(0, 1);
  session_->footer(help::kSession);
  Add(*session_, "on", "Let programs of the next logins take part", help::kSessionOn, session_on_);
  Add(*session_, "off", "Take it all back", help::kSessionOff, session_off_);
  Add(*session_, "status", "Which files there are", help::kSessionStatus, session_status_);
}

void Parser::AddUndo(CLI::App& agent) {
  CLI::App* forget =
      Add(agent, "forget", "Take back everything that was sent", help::kForget, forget_);
  forget->add_flag("--yes,-y", forget_.yes, "Do not ask");
  CLI::App* enrol =
      Add(agent, "enrol", "Keep the token of a service that wants one", help::kEnrol, enrol_);
  enrol->add_option("--token-file", enrol_.token_file, "File that holds the token; - = stdin")
      ->required()
      ->type_name("FILE");
}

void Parser::AddRun() {
  run_ = Add(app_, "run", "Run a program (given after --) and measure a few of its APIs",
             help::kRun, run_command_);
  run_->add_option("--pick", run_command_.pick,
                   "Measure these APIs, not a random few:\n"
                   "globs soname!symbol, comma-separated.\n"
                   "Such a run stays on this machine")
      ->check(CLI::Validator(ValidatePick, ""))
      ->type_name("GLOB,...");
  run_->add_option("--metrics", run_command_.metrics,
                   "What to measure, comma-separated: time;\n"
                   "alloc (bytes allocated); io (bytes of file\n"
                   "and network I/O); cycles")
      ->transform(CLI::Validator(ValidateMetrics, ""))
      ->type_name("METRICS");
}

void Parser::AddCompletion() {
  CLI::App* completion =
      Add(app_, "completion", "The completion script of a shell", help::kCompletion, completion_);
  completion->add_option("shell", shell_, "Which one")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

CommandLine Parser::Take() {
  if (color_ == "always") line_.color = draw::ColorChoice::kAlways;
  if (color_ == "never") line_.color = draw::ColorChoice::kNever;
  if (auto* top = std::get_if<TopCommand>(&line_.command)) {
    top->sort = analysis::ParseSortKey(sort_).value_or(analysis::SortKey::kTotal);
  } else if (auto* check = std::get_if<CheckCommand>(&line_.command)) {
    check->metric = analysis::ParseMetric(metric_).value_or(stats::Metric::kWallTime);
  } else if (auto* diff = std::get_if<DiffCommand>(&line_.command)) {
    diff->metric = analysis::ParseMetric(diff_metric_);
  } else if (auto* vendor = std::get_if<ReportVendorCommand>(&line_.command)) {
    vendor->by = group_by_ == "both"        ? analysis::GroupBy::kBoth
                 : group_by_ == "namespace" ? analysis::GroupBy::kNamespace
                                            : analysis::GroupBy::kModule;
    if (report_format_ == "html") vendor->format = ReportFormat::kHtml;
    if (report_format_ == "csv") vendor->format = ReportFormat::kCsv;
    if (report_format_ == "json") vendor->format = ReportFormat::kJson;
    if (report_format_ == "text") vendor->format = ReportFormat::kText;
  } else if (auto* search = std::get_if<SearchCommand>(&line_.command)) {
    search->by_name = search_sort_ == "name";
  } else if (auto* hist = std::get_if<HistCommand>(&line_.command)) {
    hist->selection.metric = hist->selection.metric.value_or(stats::Metric::kWallTime);
  } else if (auto* spectrum = std::get_if<SpectrumCommand>(&line_.command)) {
    spectrum->selection.metric = spectrum->selection.metric.value_or(stats::Metric::kWallTime);
  } else if (auto* completion = std::get_if<CompletionCommand>(&line_.command)) {
    completion->shell = shell_ == "bash"  ? Shell::kBash
                        : shell_ == "zsh" ? Shell::kZsh
                                          : Shell::kFish;
  }
  return std::move(line_);
}

namespace {

// "a, b and c".
std::string CommandNames(const CLI::App& app) {
  std::string text;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const char* between = i == 0 ? "" : i + 1 == commands.size() ? " or " : ", ";
    text += between + commands[i]->get_name();
  }
  return text;
}

}  // namespace

std::string Parser::MissingCommand() const {
  for (const CLI::App* app :
       std::initializer_list<const CLI::App*>{&app_, agent_, session_, report_, docs_}) {
    if ((app == &app_ || app->parsed()) && app->get_subcommands().empty()) {
      return (app == &app_ ? "a command is needed: " : "behind " + app->get_name() + " goes ") +
             CommandNames(*app);
    }
  }
  return "";
}

namespace {

Answer UsageError(const std::string& why) {
  return {ExitStatus(ErrorCode::kInvalidArgument), "", why + " (see fieldcost --help)"};
}

// "TEXT:{auto,always,never}" holds them.
std::vector<std::string> Choices(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{');
  if (open == std::string::npos || type.back() != '}') return choices;
  std::istringstream list(type.substr(open + 1, type.size() - open - 2));
  for (std::string choice; std::getline(list, choice, ',');) choices.push_back(choice);
  return choices;
}

OptionInfo DescribeOption(const CLI::Option& option) {
  OptionInfo info;
  info.description = option.get_description();
  std::replace(info.description.begin(), info.description.end(), '\n', ' ');
  if (option.get_positional()) {
    info.names.push_back(option.get_name(true));
    info.repeats = option.get_items_expected_max() > 1;
  } else {
    for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  }
  info.takes_value = option.get_items_expected_max() > 0;
  if (info.takes_value) {
    info.choices = Choices(option.get_type_name());
    info.type = info.choices.empty() ? option.get_type_name() : "";
  }
  return info;
}

CommandInfo DescribeCommand(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? info.positionals : info.options).push_back(DescribeOption(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    info.commands.push_back(DescribeCommand(*command));
  }
  return info;
}

}  // namespace

bool HasCsv(const CommandLine& line) {
  if (const auto* check = std::get_if<CheckCommand>(&line.command)) {
    // What these print is no table.
    return check->explain.empty() && check->tree.empty() && check->save.empty();
  }
  const auto is_one_of = [&]<typename... Commands>(std::type_identity<Commands>...) {
    return (std::holds_alternative<Commands>(line.command) || ...);
  };
  return is_one_of(std::type_identity<ShowCommand>(), std::type_identity<HistCommand>(),
                   std::type_identity<SpectrumCommand>(), std::type_identity<SearchCommand>(),
                   std::type_identity<TopCommand>(), std::type_identity<DiffCommand>(),
                   std::type_identity<ReportVendorCommand>());
}

CommandInfo DescribeCommands() { return DescribeCommand(Parser().app()); }

std::variant<CommandLine, Answer> ParseCommandLine(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments[0] == kCompleteWord) {
    arguments.erase(arguments.begin());
    CommandLine line;
    line.command = CompleteCommand{std::move(arguments)};
    return line;
  }
  // What follows the first "--" is somebody else's command line and none of CLI11's business.
  std::optional<std::vector<std::string>> program;
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) {
    program.emplace(std::make_move_iterator(mark + 1), std::make_move_iterator(arguments.end()));
    arguments.erase(mark, arguments.end());
  }
  Parser parser;
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    parser.app().parse(arguments);
  } catch (const CLI::ParseError& error) {
    std::ostringstream output;
    std::ostringstream errors;
    const int status = parser.app().exit(error, output, errors);
    if (status == 0) return Answer{0, output.str(), ""};
    return UsageError(error.what());
  }
  const std::string missing = parser.MissingCommand();
  if (!missing.empty()) return UsageError(missing);
  if (parser.runs_program() != program.has_value()) {
    return UsageError(program ? "only `run` takes a program after --"
                              : "put the program after --: fieldcost run -- PROGRAM");
  }
  if (program && program->empty()) return UsageError("no program after --");
  CommandLine line = parser.Take();
  if (const auto* spectrum = std::get_if<SpectrumCommand>(&line.command)) {
    if (spectrum->apis.empty() && spectrum->library.empty()) {
      return UsageError("behind spectrum goes an API, or --library");
    }
  }
  if (line.csv && !HasCsv(line)) return UsageError("what is asked for has no --csv");
  if (program) std::get<RunCommand>(line.command).arguments = std::move(*program);
  return line;
}

}  // namespace fieldcost::cli

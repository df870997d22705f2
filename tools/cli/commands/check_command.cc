// `fieldcost check`: is this machine's profile worse than the field?
#include <algorithm>
#include <optional>
#include <set>

#include "agent/settings/hardware.h"
#include "agent/settings/public_modules.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/draw/terminal.h"
#include "common/names/cxx_name.h"
#include "common/wire/lab_table.h"
#include "common/wire/profile.h"
#include "tools/analysis/check_report.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/commands/check_program.h"
#include "tools/cli/commands/check_tree_command.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/check_json.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/own_contribution.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/lab/lab_json.h"
#include "tools/cli/lab/measure_request.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/check_csv.h"
#include "tools/report/check_text.h"
#include "tools/report/lab/coverage_text.h"
#include "tools/report/tree/checked_tree.h"

namespace fieldcost::cli {
namespace {

struct CheckRequest {
  std::filesystem::path profile;  // empty = this machine's own measurements
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint64_t seed = 0;           // 0 = the draws depend only on the inputs
  bool all = false;                 // also list APIs that are normal, and all with too little data
  std::string explain;              // "symbol" or "soname!symbol"; empty = the report
  std::string tree;                 // a recording or profile to show with flagged functions
  std::filesystem::path flame;      // where to write it as a page; empty = print it
  std::filesystem::path save;       // write a profile to this file instead of checking
  CheckedProgram::Options program;  // measured and traced now; without words: none
};

using analysis::CheckedApi;
using analysis::CheckReport;
using inference::Verdict;
using stats::StatRow;

constexpr char kResultName[] = "check.json";
constexpr std::string_view kLocalProfile = "local";
constexpr std::string_view kFileProfile = "file";
constexpr std::string_view kProgramProfile = "program";
constexpr std::size_t kMaxNamedApis = 8;

// Measurements and where they come from.
struct MeasuredSide {
  std::vector<StatRow> rows;  // of all metrics, weeks summed
  stats::HardwareClass hardware;
  std::string name;  // for people; untrusted
  bool is_local = false;
  OwnContribution own;
};

Result<std::vector<StatRow>> ReadLocalRows(volunteer::Agent& agent) {
  FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(std::vector<StatRow> rows, agent.LocalRows());
  // Omits sums over functions that have no names.
  std::erase_if(rows,
                [](const StatRow& row) { return row.key.api.soname == settings::kPrivateName; });
  return rows;
}

// The rows of a lab table that the field may contain: none of the user's own libraries.
std::vector<StatRow> LabRows(const wire::LabTable& table) {
  std::set<stats::ApiKey> own;
  for (const wire::LabApi& api : table.apis) {
    if (api.is_own) own.insert(api.api);
  }
  std::vector<StatRow> rows = table.rows;
  std::erase_if(rows, [&own](const StatRow& row) { return own.contains(row.key.api); });
  return wire::ProfileRows(rows);
}

Result<std::vector<StatRow>> ReadLabRows(std::string_view untrusted_bytes) {
  FIELDCOST_ASSIGN(const wire::LabTable table, wire::DecodeLabTable(untrusted_bytes));
  return LabRows(table);
}

Result<MeasuredSide> ReadMeasured(const CheckRequest& command, const settings::AgentPaths& paths,
                                  const std::optional<CheckedProgram>& program,
                                  WallTime published) {
  MeasuredSide measured;
  if (program) {
    FIELDCOST_ASSIGN(const volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
    FIELDCOST_ASSIGN(measured.own, ReadOwnContribution(agent, command.metric, published));
    measured.rows = LabRows(program->measured().table);
    measured.hardware = settings::ThisHardware();
    measured.name = program->name();
    return measured;
  }
  if (!command.profile.empty()) {
    FIELDCOST_ASSIGN(const std::string untrusted_bytes,
                     ReadFile(command.profile, wire::kMaxLabBytes));
    Result<std::vector<StatRow>> rows = wire::LooksLikeLabTable(untrusted_bytes)
                                            ? ReadLabRows(untrusted_bytes)
                                            : wire::DecodeProfile(untrusted_bytes);
    if (!rows) return Within(std::move(rows).error(), EscapeControl(command.profile.string()));
    measured.rows = std::move(*rows);
    measured.name = command.profile.filename().string();
    if (!measured.rows.empty()) measured.hardware = measured.rows.front().key.hardware;
    return measured;
  }
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const std::vector<StatRow> rows, ReadLocalRows(agent));
  FIELDCOST_ASSIGN(measured.own, ReadOwnContribution(agent, command.metric, published));
  measured.rows = wire::ProfileRows(rows);
  measured.hardware = settings::ThisHardware();
  measured.name = "this machine's own measurements";
  measured.is_local = true;
  return measured;
}

Result<int> Save(const CheckRequest& command, const settings::AgentPaths& paths,
                 const Output& output) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const std::vector<StatRow> rows, ReadLocalRows(agent));
  if (rows.empty()) {
    return Fail(ErrorCode::kNotFound, "nothing has been measured yet: fieldcost agent local");
  }
  FIELDCOST_ASSIGN(const std::string bytes, wire::EncodeProfile(rows));
  FIELDCOST_TRY(WriteFileAtomically(command.save, bytes, kPrivateFileMode));
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(SavedJson(command.save, bytes.size())));
  } else {
    FIELDCOST_TRY(WriteStdout(
        fmt::format("{} bytes in {}\n", bytes.size(), EscapeControl(command.save.string()))));
  }
  return 0;
}

Result<CheckReport> MakeReport(const CheckRequest& command, const Source& source,
                               const MeasuredSide& measured) {
  std::vector<CheckedApi> apis;
  for (const StatRow& row : measured.rows) {
    if (row.key.metric != command.metric) continue;
    FIELDCOST_ASSIGN(const std::vector<StatRow> field,
                     source.Find(row.key.api.symbol, row.key.api.soname));
    apis.push_back({.key = row.key,
                    .mine = row.histogram,
                    .field = analysis::ChooseField(field, measured.own.rows, row.key),
                    .comparison = {}});
  }
  CheckReport report = analysis::Check(std::move(apis), command.metric, command.seed);
  report.profile = measured.name;
  report.own_unknown = measured.own.batches_unknown;
  return report;
}

int ExitStatusOf(const std::vector<const CheckedApi*>& apis) {
  bool compared = false;
  for (const CheckedApi* api : apis) {
    if (api->comparison.verdict == Verdict::kMore) return kIncrease;
    compared = compared || api->comparison.verdict != Verdict::kTooLittleData;
  }
  return compared ? kNoIncrease : kTooLittleData;
}

std::vector<const CheckedApi*> All(const CheckReport& report) {
  std::vector<const CheckedApi*> apis;
  for (const CheckedApi& api : report.apis) apis.push_back(&api);
  return apis;
}

// Returns the APIs with that name: all versions of one API. If none or several have it, the error
// suggests names.
Result<std::vector<const CheckedApi*>> FindNamed(const CheckReport& report,
                                                 const std::string& name) {
  const names::CxxNameQuery query(name);
  std::vector<const CheckedApi*> found;
  std::set<std::string> names;
  const auto list = [&names] {
    return ListText(std::vector(names.begin(), names.end()), names.size());
  };
  for (const CheckedApi& api : report.apis) {
    if (name != api.key.api.symbol && name != stats::DisplayName(api.key.api) &&
        name != names::ShownName(api.key.api) && !query.Matches(api.key.api.symbol)) {
      continue;
    }
    found.push_back(&api);
    names.insert(names::ShownName(api.key.api));
  }
  if (names.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "{} is in several libraries; choose one: {}",
                EscapeControl(name), list());
  }
  if (!found.empty()) return found;
  const std::string symbol = name.substr(name.find('!') + 1);
  const std::size_t max_edits = MaxEdits(symbol);
  for (const CheckedApi& api : report.apis) {
    if (names.size() < kMaxNamedApis &&
        EditDistance(symbol, names::ShortName(api.key.api.symbol), max_edits) <= max_edits) {
      names.insert(names::ShownName(api.key.api));
    }
  }
  return Fail(ErrorCode::kNotFound, "the profile has no {} for {}{}", stats::Name(report.metric),
              EscapeControl(name), names.empty() ? "" : "; did you mean " + list() + "?");
}

// Keeps the result for editors. A failure to do so does not fail the check.
void KeepResult(const settings::AgentPaths& paths, const std::string& document) {
  const Status made = MakeDirectories(paths.state_dir, 0700);
  const Status kept =
      made ? WriteFileAtomically(paths.state_dir / kResultName, document, kPrivateFileMode) : made;
  if (!kept)
    Remark(fmt::format("the result could not be kept for editors: {}", kept.error().message));
}

Result<int> Explain(const CheckRequest& command, const CheckReport& report, const CheckFacts& facts,
                    const Output& output) {
  FIELDCOST_ASSIGN(const std::vector<const CheckedApi*> apis, FindNamed(report, command.explain));
  std::string text;
  if (output.json) {
    text = ExplainJson(apis, report, facts);
  } else {
    for (const CheckedApi* api : apis) {
      text += report::ExplainText(*api, report.metric, output.style) + "\n";
    }
    text += FreshnessText(facts.freshness, facts.checked);
  }
  FIELDCOST_TRY(output.json ? WriteStdout(text) : WritePaged(text, output));
  return ExitStatusOf(apis);
}

// The call paths of a program that has been measured, if the answer needs them: for where the worse
// APIs are called, or because a file of them was requested, whose absence is then an error.
Result<std::string> TraceIfNeeded(const CheckRequest& command, const CheckReport& report,
                                  CheckedProgram& program) {
  const bool is_requested = !command.flame.empty() || !command.program.kept.empty();
  if (!is_requested && (!command.explain.empty() || report.Count(Verdict::kMore) == 0)) {
    return std::string();
  }
  const Result<std::filesystem::path> recording = program.Trace();
  if (recording) return recording->string();
  if (is_requested) return recording.error();
  Remark("the report has no call paths: " + recording.error().message);
  return std::string();
}

Result<std::string> ProgramJson(const CheckedProgram& program, const std::string& recording,
                                const CheckReport& report, const CheckFacts& facts) {
  boost::json::object coverage = CoverageJson(program.measured().coverage);
  if (recording.empty()) return CheckJson(report, facts, std::move(coverage), nullptr);
  FIELDCOST_ASSIGN(const TreeToCheck tree, LoadTreeToCheck(recording));
  return CheckJson(report, facts, std::move(coverage), &tree);
}

// The report as text; `coverage`, `recording`: of the program, empty if none.
Status PrintReport(const CheckRequest& command, const CheckReport& report, const CheckFacts& facts,
                   const analysis::Coverage& coverage, const std::string& recording,
                   const Output& output) {
  std::string text = report::CheckText(report, command.all, output.style);
  if (report.apis.empty() && facts.profile == kLocalProfile) {
    text += "Nothing of that kind has been measured yet: fieldcost agent local\n";
  }
  const std::string covered = report::CoverageText(coverage, false, output.style);
  if (!covered.empty()) text += "\n" + covered;
  if (!recording.empty()) {
    FIELDCOST_ASSIGN(const TreeToCheck tree, LoadTreeToCheck(recording));
    text += "\n" + TreeToCheckText(tree, report, output.style);
    text += draw::WrapLines(report::UnseenText(tree.view, report), output.style);
  }
  return WritePaged(text + FreshnessText(facts.freshness, facts.checked), output);
}

Result<int> CheckProfile(const CheckRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  if (!command.save.empty()) return Save(command, paths, output);
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  const catalog::Freshness& freshness = *source.freshness();
  std::optional<CheckedProgram> program;
  if (!command.program.words.empty()) {
    FIELDCOST_ASSIGN(CheckedProgram one, CheckedProgram::Measure(paths, command.program));
    program.emplace(std::move(one));
    if (const int status = StatusOf(program->measured().found); status != 0) return status;
  }
  FIELDCOST_ASSIGN(const MeasuredSide measured,
                   ReadMeasured(command, paths, program, freshness.snapshot_published));
  FIELDCOST_ASSIGN(const CheckReport report, MakeReport(command, source, measured));
  const CheckFacts facts{.checked = SystemClock().Now(),
                         .profile = program             ? kProgramProfile
                                    : measured.is_local ? kLocalProfile
                                                        : kFileProfile,
                         .hardware = measured.hardware,
                         .freshness = freshness};
  const std::string document = CheckJson(report, facts);
  KeepResult(paths, document);
  std::string tree = command.tree;
  if (program) {
    FIELDCOST_ASSIGN(tree, TraceIfNeeded(command, report, *program));
  }
  if (!command.explain.empty()) return Explain(command, report, facts, output);
  if (!command.flame.empty()) {
    FIELDCOST_TRY(WriteFlameGraph(tree, command.flame, report, freshness.synthetic));
  } else if (!command.tree.empty()) {
    FIELDCOST_TRY(ShowCheckedTree(tree, report, output));
  } else if (output.json && program) {
    FIELDCOST_ASSIGN(const std::string with_tree, ProgramJson(*program, tree, report, facts));
    FIELDCOST_TRY(WriteStdout(with_tree));
  } else if (output.json) {
    FIELDCOST_TRY(WriteStdout(document));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::CheckCsv(report, ProvenanceOf(source))));
  } else {
    FIELDCOST_TRY(PrintReport(command, report, facts,
                              program ? program->measured().coverage : analysis::Coverage{}, tree,
                              output));
  }
  return ExitStatusOf(All(report));
}

Status CheckOptions(const command::Arguments& arguments) {
  const bool has_program = !arguments.program().empty();
  for (const char* option : {"--rounds", "--input", "--keep"}) {
    if (has_program || !arguments.Has(option)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "{} is for a program to measure: fieldcost check {} ... -- PROGRAM", option,
                option);
  }
  if (has_program && arguments.Has("profile")) {
    return Fail(ErrorCode::kInvalidArgument,
                "FILE cannot be combined with a program after --: check one of them");
  }
  if (arguments.Has("--flame") && !has_program && !arguments.Has("--tree")) {
    return Fail(ErrorCode::kInvalidArgument, "--flame requires --tree, or a program after --");
  }
  // These options do not print a table.
  for (const char* other : {"--explain", "--tree", "--save"}) {
    if (!arguments.Has("--csv") || !arguments.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument, "--csv cannot be combined with {}", other);
  }
  return CheckPageOption(arguments, "--flame");
}

Result<int> RunCheck(const command::Arguments& arguments) {
  return CheckProfile(
      {.profile = arguments.Text("profile"),
       .metric =
           analysis::ParseMetric(arguments.Text("--metric")).value_or(stats::Metric::kWallTime),
       .seed = arguments.Number("--seed").value_or(0),
       .all = arguments.Has("--all"),
       .explain = arguments.Text("--explain"),
       .tree = arguments.Text("--tree"),
       .flame = arguments.Text("--flame"),
       .save = arguments.Text("--save"),
       .program = {.words = arguments.program(),
                   .input = arguments.Text("--input"),
                   .rounds = static_cast<std::uint32_t>(*arguments.Number("--rounds")),
                   .kept = arguments.Text("--keep")}},
      OutputOf(arguments));
}

std::vector<command::Option> ProfileOptions() {
  command::Option metric = MetricOption("Metric to compare");
  metric.default_text = kDefaultMetric;
  return {{.names = "profile",
           .value = "FILE",
           .help = "A saved profile or lab table, instead of this machine's own "
                   "measurements",
           .completes = command::Completes::kFiles},
          std::move(metric),
          {.names = "--explain",
           .value = "API",
           .help = "One API: the deciding test, the informative test, both distributions",
           .completes = command::Completes::kSymbol},
          {.names = "--tree",
           .value = "FILE",
           .help = "A recording (FILE@FROM..TO is a part of it), folded stacks, pprof, perf "
                   "script, ...: its call tree with flagged APIs highlighted, and the places "
                   "that call them ranked by cost; with calls of 3 or more runs, ! marks "
                   "those where a call costs more than elsewhere",
           .completes = command::Completes::kFiles,
           .excludes = {"--explain"}},
          {.names = "--flame",
           .value = "FILE",
           .help = "Write the tree to FILE as an HTML flame graph (- = stdout); warmer "
                   "colours: costs more here than in the field; grey: unknown in the field",
           .completes = command::Completes::kFiles,
           .excludes = {"--explain"}},
          {.names = "--all", .help = "Include APIs that are normal or have too little data"},
          {.names = "--seed",
           .value = "NUMBER",
           .help = "Random seed for the permutations",
           .check = command::CheckNumber},
          {.names = "--save",
           .value = "FILE",
           .help = "Write this machine's profile to FILE, and compare nothing",
           .completes = command::Completes::kFiles,
           .excludes = {"profile", "--explain", "--tree"}}};
}

std::vector<command::Option> ProgramOptions() {
  return {{.names = "--rounds",
           .value = "N",
           .help = "How many times each API of the program is timed",
           .default_text = "5",
           .check = command::CheckBetween(1, kMostRounds)},
          InputOption({"profile", "--tree", "--save"}),
          {.names = "--keep",
           .value = "DIRECTORY",
           .help = "Keep what was measured in DIRECTORY: check.lab, check.fct",
           .completes = command::Completes::kFiles,
           .check = command::CheckNotEmpty}};
}

}  // namespace

command::Command CheckCommand() {
  command::Command check{
      .name = "check",
      .summary = "Is this machine's profile worse than the field?",
      .help =
          R"(An API is called worse if this machine's costs are above other machines' by more than machines
usually differ, and by enough to matter (Cliff's delta 0.147, ratio 1.25). A test on calls is shown
for information only. Nothing is fetched. The result is kept for editors. Exit status 1: something
is worse; 2: too little data for any answer.
With a program after --, every API that it calls is measured like fieldcost measure does, then
compared; if something is worse, the program is also traced, and the report shows on which call
paths. It must do the same in each run. Its output is not shown. Examples:
  fieldcost check
  fieldcost check -- ./pack 30 /bin/bash
  fieldcost check --keep kept --flame pack.html -- ./pack 30 /bin/bash
  fieldcost check --explain 'libsqlite3.so.0!sqlite3_step'
  fieldcost check --tree perf.folded
  fieldcost check --tree perf.folded --flame perf.html
  fieldcost check app.lab --tree app.fct
  fieldcost check --save before.profile
  fieldcost check before.profile --metric alloc_inclusive --csv
  fieldcost check all.lab)",
      .options = ProfileOptions(),
      .handler = RunCheck,
      .takes_program = true,
      .instead_of_program = {"--tree", "--save"},
      .program_is_optional = true,
      .check = CheckOptions};
  const std::vector<command::Option> of_program = ProgramOptions();
  check.options.insert(check.options.end(), of_program.begin(), of_program.end());
  return check;
}

}  // namespace fieldcost::cli

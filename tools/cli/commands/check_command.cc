// `fieldcost check`: is this machine's profile worse than the field?
#include <algorithm>
#include <set>

#include "agent/settings/hardware.h"
#include "agent/settings/public_modules.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/names/cxx_name.h"
#include "common/wire/lab_table.h"
#include "common/wire/profile.h"
#include "tools/analysis/check_report.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/commands/check_tree_command.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/check_json.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/own_contribution.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/check_csv.h"
#include "tools/report/check_text.h"

namespace fieldcost::cli {
namespace {

struct CheckRequest {
  std::filesystem::path profile;  // empty = this machine's own measurements
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint64_t seed = 0;       // 0 = the draws depend only on the inputs
  bool all = false;             // also list APIs that are normal, and all with too little data
  std::string explain;          // "symbol" or "soname!symbol"; empty = the report
  std::string tree;             // a recording or profile to show with flagged functions
  std::filesystem::path flame;  // where to write it as a page; empty = print it
  std::filesystem::path save;   // write a profile to this file instead of checking
};

using analysis::CheckedApi;
using analysis::CheckReport;
using inference::Verdict;
using stats::StatRow;

constexpr int kPrivateMode = 0600;
constexpr char kResultName[] = "check.json";
constexpr std::size_t kMaxSuggestions = 8;

// Measurements and where they come from.
struct Measured {
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
Result<std::vector<StatRow>> ReadLabRows(std::string_view untrusted_bytes) {
  FIELDCOST_ASSIGN(wire::LabTable table, wire::DecodeLabTable(untrusted_bytes));
  std::set<stats::ApiKey> own;
  for (const wire::LabApi& api : table.apis) {
    if (api.is_own) own.insert(api.api);
  }
  std::erase_if(table.rows, [&own](const StatRow& row) { return own.contains(row.key.api); });
  return wire::ProfileRows(table.rows);
}

Result<Measured> ReadMeasured(const CheckRequest& command, const settings::AgentPaths& paths,
                              WallTime published) {
  Measured measured;
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
  FIELDCOST_TRY(WriteFileAtomically(command.save, bytes, kPrivateMode));
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(SavedJson(command.save, bytes.size())));
  } else {
    FIELDCOST_TRY(WriteStdout(
        fmt::format("{} bytes in {}\n", bytes.size(), EscapeControl(command.save.string()))));
  }
  return 0;
}

Result<CheckReport> MakeReport(const CheckRequest& command, const Source& source,
                               const Measured& measured) {
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
    if (names.size() < kMaxSuggestions &&
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
      made ? WriteFileAtomically(paths.state_dir / kResultName, document, kPrivateMode) : made;
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

Result<int> CheckProfile(const CheckRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  if (!command.save.empty()) return Save(command, paths, output);
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  const catalog::Freshness& freshness = *source.freshness();
  FIELDCOST_ASSIGN(const Measured measured,
                   ReadMeasured(command, paths, freshness.snapshot_published));
  FIELDCOST_ASSIGN(const CheckReport report, MakeReport(command, source, measured));
  const CheckFacts facts{.checked = SystemClock().Now(),
                         .profile = measured.is_local ? "local" : "file",
                         .hardware = measured.hardware,
                         .freshness = freshness};
  const std::string document = CheckJson(report, facts);
  KeepResult(paths, document);
  if (!command.explain.empty()) return Explain(command, report, facts, output);
  if (!command.flame.empty()) {
    FIELDCOST_TRY(WriteFlameGraph(command.tree, command.flame, report, freshness.synthetic));
  } else if (!command.tree.empty()) {
    FIELDCOST_TRY(ShowCheckedTree(command.tree, report, output));
  } else if (output.json) {
    FIELDCOST_TRY(WriteStdout(document));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::CheckCsv(report, ProvenanceOf(source))));
  } else {
    std::string text = report::CheckText(report, command.all, output.style);
    if (report.apis.empty() && measured.is_local) {
      text += "Nothing of that kind has been measured yet: fieldcost agent local\n";
    }
    FIELDCOST_TRY(WritePaged(text + FreshnessText(freshness, facts.checked), output));
  }
  return ExitStatusOf(All(report));
}

// These options do not print a table.
Status CheckCsv(const command::Arguments& arguments) {
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
       .save = arguments.Text("--save")},
      OutputOf(arguments));
}

}  // namespace

command::Command CheckCommand() {
  command::Option metric = MetricOption("Metric to compare");
  metric.default_text = kDefaultMetric;
  return {
      .name = "check",
      .summary = "Is this machine's profile worse than the field?",
      .help =
          R"(An API is called worse if this machine's costs are above other machines' by more than machines
usually differ, and by enough to matter (Cliff's delta 0.147, ratio 1.25). A test on calls is shown
for information only. Nothing is fetched. The result is kept for editors. Exit status 1: something
is worse; 2: too little data for any answer. Examples:
  fieldcost check
  fieldcost check --explain 'libsqlite3.so.0!sqlite3_step'
  fieldcost check --tree perf.folded
  fieldcost check --tree perf.folded --flame perf.html
  fieldcost check --save before.profile
  fieldcost check before.profile --metric alloc_inclusive --csv
  fieldcost check all.lab)",
      .options = {{.names = "profile",
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
                   .help =
                       "A recording (FILE@FROM..TO is a part of it), folded stacks, pprof, perf "
                       "script, ...: its call tree with flagged APIs highlighted",
                   .completes = command::Completes::kFiles,
                   .excludes = {"--explain"}},
                  {.names = "--flame",
                   .value = "FILE",
                   .help = "Write the tree to FILE as an HTML flame graph (- = stdout); warmer "
                           "colours: costs more here than in the field; grey: unknown in the field",
                   .completes = command::Completes::kFiles,
                   .needs = {"--tree"}},
                  {.names = "--all",
                   .help = "Include APIs that are normal or have too little data"},
                  {.names = "--seed",
                   .value = "NUMBER",
                   .help = "Random seed for the permutations",
                   .check = command::CheckNumber},
                  {.names = "--save",
                   .value = "FILE",
                   .help = "Write this machine's profile to FILE, and compare nothing",
                   .completes = command::Completes::kFiles,
                   .excludes = {"profile", "--explain", "--tree"}}},
      .handler = RunCheck,
      .check = CheckCsv};
}

}  // namespace fieldcost::cli

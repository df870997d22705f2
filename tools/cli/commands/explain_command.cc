// `fieldcost agent explain`: why a program or process is, or is not, measured.
#include <unistd.h>

#include <map>
#include <vector>

#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "agent/runs/run_file_reader.h"
#include "agent/settings/memory_dir.h"
#include "agent/volunteer/agent.h"
#include "common/base/text.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/summary.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/status_text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/cost_json.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/not_measured.h"

namespace fieldcost::cli {
namespace {

struct ExplainRequest {
  std::string subject;  // a program, a pid, or a function
};

constexpr int kAnswerIsNo = 1;

using Functions = std::map<std::string, FunctionSeen>;

struct Explained {
  std::string subject;  // escaped
  reach::Explanation why;
  std::optional<pid_t> pid;
  // Measured functions of the process with metrics that cannot be counted.
  std::vector<analysis::CostSummary> not_measured;
};

// The functions that a running process has picked so far, given its run file; empty if it has
// ended.
Result<std::vector<analysis::CostSummary>> NotMeasuredIn(const std::filesystem::path& run_file) {
  std::vector<analysis::CostSummary> functions;
  const auto bytes = runs::RunFileBytes::Open(run_file);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return functions;
  if (!bytes) return bytes.error();
  FIELDCOST_ASSIGN(const runs::RunInfo info, runs::ReadRunInfo(*bytes));
  if (!info.ready) return functions;
  FIELDCOST_ASSIGN(const runs::RunContent content, runs::ReadRunContent(*bytes, info, false));
  std::map<stats::ApiKey, std::uint32_t> reasons;
  for (const runs::RunPick& pick : content.picks) {
    if (pick.not_measured != 0) reasons[pick.api] |= pick.not_measured;
  }
  for (const auto& [api, bits] : reasons) functions.push_back({.api = api, .not_measured = bits});
  return functions;
}

std::string NotMeasuredText(const std::vector<analysis::CostSummary>& functions) {
  std::string text;
  for (const analysis::CostSummary& function : functions) {
    for (const report::NotMeasuredPart& part : report::NotMeasuredParts(function)) {
      text += fmt::format("not measured of {}: {}\n",
                          EscapeControl(stats::DisplayName(function.api)), report::Text(part));
    }
  }
  return text;
}

// The functions' names as users write them.
std::vector<std::string> FunctionNames(const std::vector<std::string>& untrusted_symbols) {
  std::vector<std::string> names;
  for (const std::string& symbol : untrusted_symbols) {
    names.push_back(names::DemangledName(symbol));
  }
  return names;
}

std::string WithoutPltText(const std::string& program, const reach::CallsWithoutPlt& calls) {
  constexpr std::size_t kMostNamed = 5;
  std::string text;
  if (!calls.measured_if_named.empty()) {
    text += fmt::format(
        "called without a PLT (-fno-plt), so measured only if named (run --pick, measure, trace "
        "--events), or with selection.data_slots = true in agent.toml: {}\n",
        ListText(FunctionNames(calls.measured_if_named), kMostNamed));
  }
  if (!calls.address_taken.empty()) {
    text += fmt::format("{}: {}\n", ListText(FunctionNames(calls.address_taken), kMostNamed),
                        EscapeControl(reach::AddressTakenPhrase(program)));
  }
  return text;
}

Result<Explained> Explain(const std::string& subject, const settings::AgentPaths& paths) {
  const auto number = ParseUint64(subject);
  if (number && *number > 0 && *number <= INT32_MAX) {
    FIELDCOST_ASSIGN(const reach::ProcessReach process,
                     reach::ExplainProcess({.run_dir = paths.run_dir(), .uid = ::getuid()},
                                           static_cast<pid_t>(*number)));
    Explained explained{
        fmt::format("process {} ({})", process.pid, EscapeControl(process.untrusted_name)),
        process.why,
        process.pid,
        {}};
    if (!process.why.run_file.empty()) {
      FIELDCOST_ASSIGN(explained.not_measured, NotMeasuredIn(process.why.run_file));
    }
    return explained;
  }
  const std::filesystem::path path = reach::FindProgram(subject);
  FIELDCOST_ASSIGN(reach::Explanation why, reach::ExplainProgram(path));
  std::string name = EscapeControl(path.string());
  if (why.program != path) {
    name += fmt::format(", run by {}", EscapeControl(why.program.string()));
  }
  return Explained{std::move(name), std::move(why), std::nullopt, {}};
}

// The libraries with a function of that name, among the functions measured here or in the field.
// kNotFound, with similar names, if none.
Result<Functions> FindFunctions(const std::string& name) {
  const std::size_t mark = name.find('!');
  const std::string symbol = mark == std::string::npos ? name : name.substr(mark + 1);
  const std::string soname = mark == std::string::npos ? "" : name.substr(0, mark);
  Functions functions;
  std::vector<std::string> near;
  for (const bool local : {true, false}) {
    const auto source = Source::Open(local);
    if (!source) continue;  // no catalogue, or no local measurements
    FIELDCOST_ASSIGN(std::vector<stats::StatRow> rows, source->Find(symbol, soname));
    if (rows.empty()) {
      FIELDCOST_ASSIGN(rows, source->FindCxx(symbol, soname));
    }
    for (const stats::StatRow& row : rows) {
      FunctionSeen& where = functions[names::ShownName(row.key.api)];
      (local ? where.here : where.field) = true;
    }
    if (near.empty()) near = source->Suggest(symbol).value_or(near);
  }
  if (!functions.empty()) return functions;
  constexpr std::size_t kMostOffered = 3;
  return Fail(ErrorCode::kNotFound,
              "{}: neither a program in PATH nor a function that has been measured{}",
              EscapeControl(name),
              near.empty() ? "" : fmt::format("; did you mean {}?", ListText(near, kMostOffered)));
}

Status PutFunctions(const std::string& name, const Functions& functions, const Output& output) {
  if (output.json) return WriteStdout(FunctionsJson(functions));
  std::string text;
  for (const auto& [function, where] : functions) {
    text += fmt::format("{}: can be measured; measured {}\n", EscapeControl(function),
                        where.here && where.field ? "here and in the field"
                        : where.here              ? "here"
                                                  : "in the field");
  }
  text += fmt::format("fieldcost run --pick {} -- PROGRAM measures {} in that program\n",
                      EscapeControl(name), functions.size() == 1 ? "it" : "all of them");
  return WritePaged(text, output);
}

Result<int> RunExplain(const ExplainRequest& command, const Output& output) {
  if (!ParseUint64(command.subject) && reach::FindProgram(command.subject).empty()) {
    FIELDCOST_ASSIGN(const Functions functions, FindFunctions(command.subject));
    FIELDCOST_TRY(PutFunctions(command.subject, functions, output));
    return 0;
  }
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const Explained explained, Explain(command.subject, paths));
  const reach::Reach reach = explained.why.reach;
  const bool can = reach == reach::Reach::kAble || reach == reach::Reach::kMeasuring;
  const auto calls =
      can ? reach::WithoutPlt(reach::ImportsOfProgram(explained.why.program.string()))
          : reach::CallsWithoutPlt();
  if (output.json) {
    FIELDCOST_TRY(
        WriteStdout(ExplanationJson(explained.why, explained.pid, explained.not_measured, calls)));
  } else {
    std::string text = fmt::format("{}: {}\n", explained.subject, ReasonText(explained.why));
    const auto consent = settings::EffectiveConsent(paths);
    if (can && consent && consent->mode == settings::Mode::kOff) {
      text += "but fieldcost is off: fieldcost agent local|on\n";
    } else if (const auto memory = settings::FindMemoryDir(paths); can && !memory) {
      text += "but " + memory.error().message + "\n";
    }
    text += WithoutPltText(explained.why.program.string(), calls);
    text += NotMeasuredText(explained.not_measured);
    FIELDCOST_TRY(WritePaged(text, output));
  }
  return can ? 0 : kAnswerIsNo;
}

}  // namespace

command::Command AgentExplainCommand() {
  return {
      .name = "explain",
      .summary = "Why a program, process or function is, or is not, measured",
      .help =
          R"(A function is named as for `fieldcost show`. For a program built without a PLT (-fno-plt), also
the functions that are measured only if they are named, or not at all. For a process that is being
measured, also the functions whose bytes allocated, read, written, sent or received are not
measured, and why. Exit status 1: it cannot be measured.
Examples:
  fieldcost agent explain sudo
  fieldcost agent explain sqlite3_step
  fieldcost agent explain $$)",
      .options = {{.names = "subject",
                   .value = "PROGRAM|PID|FUNCTION",
                   .help = "Program (looked up in PATH), process id, or function",
                   .completes = command::Completes::kPrograms,
                   .required = true}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunExplain({.subject = arguments.Text("subject")}, OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli

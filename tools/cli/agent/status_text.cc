#include "tools/cli/agent/status_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxNames = 8;
constexpr std::size_t kLabelWidth = 20;
constexpr double kShareTolerance = 1e-3;  // policies round probabilities to 1/65536

std::string LabelledLine(std::string_view label, const std::string& value) {
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, EscapeControl(value));
}

std::string ModeValue(const settings::Consent& consent) {
  if (consent.since == WallTime{}) return fmt::format("{} (never switched on)", Name(consent.mode));
  return fmt::format("{} since {}", Name(consent.mode), draw::FormatTime(consent.since));
}

using AddLine = std::function<void(std::string_view label, const std::string& value)>;

void AddUpload(const volunteer::AgentStatus& status, const AddLine& line) {
  if (!status.upload.waiting_for.empty()) line("waiting for", status.upload.waiting_for);
  if (status.upload.next_upload) line("next upload", draw::FormatTime(*status.upload.next_upload));
  if (status.upload.failed_uploads != 0) {
    line("failed uploads",
         fmt::format("{} in a row{}{}", draw::FormatCount(status.upload.failed_uploads),
                     status.upload.upload_problem.empty() ? "" : ": ",
                     status.upload.upload_problem));
  }
}

void AddFieldPolicy(const volunteer::AgentStatus& status, const AddLine& line) {
  if (status.field_policy.version != 0) {
    line("service's policy",
         fmt::format("version {}{}", status.field_policy.version,
                     status.field_policy.expires
                         ? ", until " + draw::FormatTime(*status.field_policy.expires)
                         : ""));
  }
  if (!status.field_policy.problem.empty()) line("policy problem", status.field_policy.problem);
}

// The runs that were not selected at random, and why some of them were not.
template <typename Line>
void AddNotSelected(const volunteer::MeasuringStatus& measuring,
                    const settings::AgentConfig& config, const Line& line) {
  std::string label = "not selected";
  std::string total = draw::FormatCount(measuring.runs.not_drawn + measuring.runs.asked) + ": ";
  for (const runs::SkipCount& skip : measuring.skips) {
    if (!runs::WouldHaveBeenSelected(skip.skip)) continue;
    std::string reason = skip.reason;
    if (skip.skip == shm::Skip::kSystemLoaded && config.max_load_per_core_percent != 0) {
      reason = fmt::format("load was above {} %", config.max_load_per_core_percent);
      if (config.max_cpu_pressure_percent != 0) {
        reason += fmt::format(", or CPU pressure above {} %", config.max_cpu_pressure_percent);
      }
    }
    line(std::exchange(label, ""),
         fmt::format("{}{} would have been, but {}", std::exchange(total, ""),
                     draw::FormatCount(skip.runs), reason));
  }
}

// "one run in 16 is", "30 % of runs are".
std::string SelectedText(double probability) {
  const double runs = probability > 0 ? std::round(1 / probability) : 0;
  if (runs >= 2 && std::abs(probability * runs - 1) < kShareTolerance) {
    return fmt::format("one run in {} is", draw::FormatCount(static_cast<std::uint64_t>(runs)));
  }
  return draw::RoughShareText(probability) + " of runs are";
}

// The runs that were not measured at all, and the kinds of runs without a count.
template <typename Line>
void AddNotMeasured(const volunteer::AgentStatus& status, const settings::AgentConfig& config,
                    const Line& line) {
  std::string label = "runs not measured";
  for (const runs::SkipCount& skip : status.measuring.skips) {
    if (runs::WouldHaveBeenSelected(skip.skip)) continue;
    line(std::exchange(label, ""), fmt::format("{} {}", draw::FormatCount(skip.runs), skip.reason));
  }
  if (status.measuring.runs.not_drawn != 0) {
    line(std::exchange(label, ""), fmt::format("{} not selected at random ({})",
                                               draw::FormatCount(status.measuring.runs.not_drawn),
                                               SelectedText(config.selection_probability)));
  }
  if (status.consent.mode == settings::Mode::kOff) return;
  line(std::exchange(label, ""),
       "not counted: runs while off or paused, and of programs without the");
  line("", "library (reasons below), because these record nothing");
}

}  // namespace

std::string PauseEndText(WallTime paused_until) {
  if (paused_until == settings::kUntilResumed) return "until it is resumed";
  return "until " + draw::FormatTime(paused_until);
}

std::string ServerText(const settings::AgentConfig& config) {
  if (!config.url.empty()) return config.url;
  return config.suggested.url.empty() ? "none" : "none; suggested: " + config.suggested.url;
}

std::string StatusText(const volunteer::AgentStatus& status, const settings::AgentPaths& paths,
                       const settings::AgentConfig& config, const StatusTextOptions& options) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    text += LabelledLine(label, value);
  };
  // The effective mode.
  line("mode", ModeValue(status.consent));
  if (status.forbidden) {
    line("", "NOT PERMITTED by the administrator: nothing is measured or sent");
    line("", fmt::format("see {}", paths.system_file.string()));
  }
  if (status.paused_until) {
    line("", fmt::format("paused {}: nothing is measured or sent (fieldcost agent resume)",
                         PauseEndText(*status.paused_until)));
  }
  line("server", ServerText(config));
  line("agent key", status.agent_public_key.empty() ? "none yet" : status.agent_public_key);
  // Unsent and sent data, and the state of sending.
  line("run files", draw::FormatCount(status.measuring.run_files));
  line("waiting to be sent",
       fmt::format("{}, {}; {}", Counted(status.outbox.pending_rows, "row"),
                   Counted(status.outbox.pending_bytes, "byte"),
                   Counted(status.outbox.spooled_batches, "finished batch", "finished batches")));
  AddUpload(status, line);
  line("sent", Counted(status.outbox.sent_batches, "batch", "batches") + " (fieldcost agent log)");
  if (status.outbox.withdrawn_batches != 0) {
    line("taken back", Counted(status.outbox.withdrawn_batches, "batch", "batches"));
  }
  if (status.outbox.dropped_batches != 0) {
    line("dropped unsent", Counted(status.outbox.dropped_batches, "batch", "batches") + ", " +
                               Counted(status.outbox.dropped_rows, "row"));
  }
  line("refused by server", Counted(status.outbox.quarantined_batches, "batch", "batches"));
  // Measurements: private and lost data, their cost, and the number of runs.
  line("kept private",
       Counted(status.measuring.private_rows_kept, "row") + " of non-public libraries");
  line("lost", fmt::format("{} not recorded, {} and {} refused",
                           Counted(status.measuring.lost_calls, "call"),
                           Counted(status.measuring.refused_files, "run file"),
                           Counted(status.measuring.refused_cells, "impossible sum")));
  line("cost", fmt::format("measuring overhead {}: {} timed, {} only counted",
                           draw::TotalText(static_cast<double>(status.measuring.overhead_ns),
                                           options.style),
                           Counted(status.measuring.timed_calls, "call"),
                           draw::FormatCount(status.measuring.untimed_calls)));
  if (status.measuring.dropped_picks != 0) {
    line("stopped",
         Counted(status.measuring.dropped_picks, "function") + " too expensive to measure");
  }
  const volunteer::RunCounts& runs = status.measuring.runs;
  line("runs",
       fmt::format("{} in all: {} for the field (selected at random), {} for you only (on request)",
                   draw::FormatCount(runs.drawn + runs.not_drawn + runs.asked),
                   draw::FormatCount(runs.drawn), draw::FormatCount(runs.asked)));
  AddNotSelected(status.measuring, config, line);
  AddNotMeasured(status, config, line);
  // The service's policy, and where the settings are.
  if (!status.measuring.policy_problem.empty()) line("problem", status.measuring.policy_problem);
  AddFieldPolicy(status, line);
  line("configuration", paths.config_file.string());
  line("state", paths.state_dir.string());
  return text;
}

std::string MissingText(const std::vector<MissingPart>& missing) {
  std::string text;
  for (const MissingPart& part : missing) {
    text += LabelledLine(text.empty() ? "missing" : "",
                         fmt::format("{}: {}", part.part, part.problem)) +
            LabelledLine("", "  " + part.fix);
  }
  return text;
}

std::string NamesText(const std::vector<reach::ProcessReach>& processes) {
  std::map<std::string, std::size_t> counts;
  for (const reach::ProcessReach& process : processes) ++counts[process.untrusted_name];
  std::vector<std::pair<std::string, std::size_t>> names(counts.begin(), counts.end());
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", EscapeControl(names[i].first));
    if (names[i].second > 1) text += fmt::format(" ({})", names[i].second);
  }
  if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
  return text;
}

std::string ProgramsText(const std::vector<reach::ProcessReach>& processes,
                         const StatusTextOptions& options) {
  std::string text = LabelledLine("programs", draw::FormatCount(processes.size()) + " running now");
  for (const reach::Reach reach : reach::kAllReaches) {
    std::vector<reach::ProcessReach> some;
    std::copy_if(processes.begin(), processes.end(), std::back_inserter(some),
                 [reach](const auto& process) { return process.why.reach == reach; });
    if (some.empty()) continue;
    text +=
        fmt::format("{:>{}}  {}\n", draw::FormatCount(some.size()), kLabelWidth - 2, Phrase(reach));
    if (options.names) text += fmt::format("{:{}}  {}\n", "", kLabelWidth, NamesText(some));
  }
  return text;
}

std::string ReasonText(const reach::Explanation& why) {
  std::string text(Phrase(why.reach));
  if (!why.untrusted_detail.empty()) {
    text += fmt::format(" ({})", EscapeControl(why.untrusted_detail));
  }
  return text;
}

}  // namespace fieldcost::cli

#include "tools/cli/agent/agent_json.h"

#include <algorithm>
#include <boost/json.hpp>

#include "common/draw/numbers.h"
#include "tools/analysis/summary.h"
#include "tools/cli/agent/batch_text.h"
#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::object WhyJson(const reach::Explanation& why) {
  return {{"reach", Text(Name(why.reach))},
          {"reason", Text(Phrase(why.reach))},
          {"detail", Text(why.untrusted_detail)},
          {"program", Text(why.program.string())}};
}

json::object ProcessJson(const reach::ProcessReach& process) {
  return {{"pid", process.pid},
          {"name", Text(process.untrusted_name)},
          {"reach", Text(Name(process.why.reach))},
          {"detail", Text(process.why.untrusted_detail)}};
}

// Whether the runs of such programs cannot be counted, because nothing of fieldcost is in them.
bool IsNotCounted(reach::Reach reach) {
  switch (reach) {
    case reach::Reach::kNotAsked:
    case reach::Reach::kNotLoaded:
    case reach::Reach::kPrivileged:
    case reach::Reach::kStatic:
    case reach::Reach::kOtherMachine:
    case reach::Reach::kOtherRoot:
    case reach::Reach::kOtherLibc:
      return true;
    default:
      return false;
  }
}

json::array NotCountedJson(const std::vector<reach::ProcessReach>& programs) {
  json::array reasons = {
      json::object{{"reason", "off or paused"}, {"runs", nullptr}, {"running_now", nullptr}}};
  for (const reach::Reach reach : reach::kAllReaches) {
    if (!IsNotCounted(reach)) continue;
    const auto running =
        std::count_if(programs.begin(), programs.end(),
                      [reach](const auto& process) { return process.why.reach == reach; });
    reasons.push_back(
        json::object{{"reason", Text(Phrase(reach))}, {"runs", nullptr}, {"running_now", running}});
  }
  return reasons;
}

json::value TimeOrNull(const std::optional<WallTime>& time) {
  if (!time) return nullptr;
  return Text(draw::FormatTime(*time));
}

void AddContent(const volunteer::BatchDetails& batch, json::object& object) {
  json::array rows;
  for (const wire::BatchRow& row : batch.content.rows) {
    json::object cell = ApiJson(row.api);
    cell["metric"] = Text(stats::Name(row.metric));
    cell["week"] = row.week;
    cell["first_contribution"] = row.first_contribution;
    cell["histogram"] = HistogramJson(row.histogram);
    rows.push_back(std::move(cell));
  }
  object["field_policy_version"] = batch.content.field_policy_version;
  object["body_bytes"] = batch.raw.size();
  object["hardware"] = HardwareJson(batch.content.hardware);
  object["rows"] = std::move(rows);
}

json::object LoggedJson(const spool::LoggedBatch& batch) {
  return {{"id", batch.id},
          {"state", Text(NameOf(batch.state).word)},
          {"made", Text(draw::FormatTime(batch.created))},
          {"changed", Text(draw::FormatTime(batch.sent))},
          {"row_count", batch.rows},
          {"rejected_rows", batch.rejected_rows},
          {"size_bytes", batch.size_bytes},
          {"sha256", Text(batch.sha256)},
          {"epoch", batch.epoch.value()},
          {"sequence", batch.sequence},
          {"reason", Text(batch.reason)},
          {"can_withdraw", batch.can_withdraw}};
}

// null also for a pause without end.
json::value PauseEnd(std::optional<WallTime> paused_until) {
  if (paused_until == settings::kUntilResumed) return nullptr;
  return TimeOrNull(paused_until);
}

json::object RefreshObject(const refresh::RefreshStatus& status) {
  const catalog::Freshness catalogue = status.catalogue.value_or(catalog::Freshness());
  return {{"automatic", status.is_on},
          {"next", TimeOrNull(status.next)},
          {"waiting_for", Text(status.waiting_for)},
          {"failures", status.failures},
          {"problem", Text(status.problem)},
          {"fragments_present", catalogue.fragments_present},
          {"fragments_total", catalogue.fragments_total}};
}

}  // namespace

std::string RefreshJson(const refresh::RefreshStatus& status) {
  return Print({{"freshness", status.catalogue ? json::value(FreshnessJson(*status.catalogue))
                                               : json::value(nullptr)},
                {"refresh", RefreshObject(status)}});
}

std::string StatusJson(const volunteer::AgentStatus& status, const settings::AgentPaths& paths,
                       const settings::AgentConfig& config, const StatusJsonOptions& options) {
  json::array skips;
  for (const runs::SkipCount& skip : status.measuring.skips) {
    skips.push_back(
        json::object{{"reason", Text(skip.reason)},
                     {"runs", skip.runs},
                     {"would_have_been_selected", runs::WouldHaveBeenSelected(skip.skip)}});
  }
  json::array programs;
  for (const reach::ProcessReach& process : options.programs) {
    programs.push_back(ProcessJson(process));
  }
  json::array missing;
  for (const MissingPart& part : options.missing) {
    missing.push_back(json::object{
        {"part", Text(part.part)}, {"problem", Text(part.problem)}, {"fix", Text(part.fix)}});
  }
  // New members are appended, so the order of existing ones never changes.
  return Print({{"mode", Text(Name(status.consent.mode))},
                {"since", Text(draw::FormatTime(status.consent.since))},
                {"agent_public_key", Text(status.agent_public_key)},
                {"server", Text(config.url)},
                {"config_file", Text(paths.config_file.string())},
                {"state_dir", Text(paths.state_dir.string())},
                {"run_files", status.measuring.run_files},
                {"pending_rows", status.outbox.pending_rows},
                {"pending_bytes", status.outbox.pending_bytes},
                {"spooled_batches", status.outbox.spooled_batches},
                {"quarantined_batches", status.outbox.quarantined_batches},
                {"sent_batches", status.outbox.sent_batches},
                {"lost_calls", status.measuring.lost_calls},
                {"refused_files", status.measuring.refused_files},
                {"refused_cells", status.measuring.refused_cells},
                {"private_rows_kept", status.measuring.private_rows_kept},
                {"overhead_ns", status.measuring.overhead_ns},
                {"timed_calls", status.measuring.timed_calls},
                {"untimed_calls", status.measuring.untimed_calls},
                {"dropped_picks", status.measuring.dropped_picks},
                {"skips", std::move(skips)},
                {"runs_drawn", status.measuring.runs.drawn},
                {"runs_not_drawn", status.measuring.runs.not_drawn},
                {"runs_asked", status.measuring.runs.asked},
                {"paused", status.paused_until.has_value()},
                {"paused_until", PauseEnd(status.paused_until)},
                {"policy_problem", Text(status.measuring.policy_problem)},
                {"forbidden", status.forbidden},
                {"withdrawn_batches", status.outbox.withdrawn_batches},
                {"dropped_batches", status.outbox.dropped_batches},
                {"dropped_rows", status.outbox.dropped_rows},
                {"waiting_for", Text(status.upload.waiting_for)},
                {"next_upload", TimeOrNull(status.upload.next_upload)},
                {"failed_uploads", status.upload.failed_uploads},
                {"upload_problem", Text(status.upload.upload_problem)},
                {"field_policy_version", status.field_policy.version},
                {"field_policy_expires", TimeOrNull(status.field_policy.expires)},
                {"field_policy_problem", Text(status.field_policy.problem)},
                {"session_active", options.session_active},
                {"programs", std::move(programs)},
                {"missing", std::move(missing)},
                {"suggested_server", Text(config.suggested.url)},
                {"selection_probability", config.selection_probability},
                {"runs_not_counted", NotCountedJson(options.programs)},
                {"refresh", RefreshObject(options.refresh)}});
}

std::string ExplanationJson(const reach::Explanation& why, std::optional<pid_t> pid,
                            const std::vector<analysis::CostSummary>& not_measured,
                            const reach::CallsWithoutPlt& without_plt) {
  json::object object = WhyJson(why);
  if (pid) object["pid"] = *pid;
  if (!without_plt.measured_if_named.empty()) {
    object["measured_if_named"] = NamesJson(without_plt.measured_if_named);
  }
  if (!without_plt.address_taken.empty()) {
    object["address_taken"] = NamesJson(without_plt.address_taken);
  }
  if (why.reach == reach::Reach::kMeasuring) {
    json::array functions;
    for (const analysis::CostSummary& function : not_measured) {
      json::object one = ApiJson(function.api);
      one["not_measured"] = NotMeasuredJson(function);
      functions.push_back(std::move(one));
    }
    object["functions"] = std::move(functions);
  }
  return Print(object);
}

std::string PreviewJson(const std::optional<volunteer::BatchDetails>& batch,
                        const std::string& agent_public_key) {
  if (!batch) return Print({{"batch", nullptr}});
  json::object object{{"agent_public_key", Text(agent_public_key)}, {"sequence", batch->sequence}};
  AddContent(*batch, object);
  return Print({{"batch", std::move(object)}});
}

std::string LogJson(const std::vector<spool::LoggedBatch>& log) {
  json::array batches;
  for (const spool::LoggedBatch& batch : log) batches.push_back(LoggedJson(batch));
  return Print({{"batches", std::move(batches)}});
}

std::string LoggedBatchJson(const spool::LoggedBatch& logged,
                            const volunteer::BatchDetails& batch) {
  json::object object = LoggedJson(logged);
  AddContent(batch, object);
  return Print({{"batch", std::move(object)}});
}

std::string ForgetJson(const upload::ForgetReport& report) {
  json::object object{{"batches_withdrawn", report.batches_withdrawn},
                      {"rows_withdrawn", report.rows_withdrawn},
                      {"batches_deleted", report.batches_deleted},
                      {"batches_refused", report.batches_refused},
                      {"refused_reason", Text(report.refused_reason)},
                      {"batches_too_old", report.batches_too_old},
                      {"batches_left", report.batches_left}};
  if (report.stopped_by) {
    object["error"] = Text(Name(report.stopped_by->code));
    object["message"] = Text(report.stopped_by->message);
  }
  return Print(object);
}

std::string ForgetLocalJson(std::uint64_t rows_erased) {
  return Print({{"local_rows_erased", rows_erased}});
}

std::string PauseJson(std::optional<WallTime> paused_until) {
  return Print({{"paused", paused_until.has_value()}, {"paused_until", PauseEnd(paused_until)}});
}

std::string ModeJson(settings::Mode mode) { return Print({{"mode", Text(Name(mode))}}); }

std::string ViewJson(const std::string& url, std::size_t apis) {
  return Print({{"url", Text(url)}, {"apis", apis}});
}

}  // namespace fieldcost::cli

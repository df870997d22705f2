#include "agent/probe_recorder/record_events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

#include "agent/perf/command_child.h"
#include "agent/probe/login.h"
#include "agent/probe/probe_plan.h"
#include "agent/probe/probe_session.h"
#include "agent/probe/spool.h"
#include "agent/probe_recorder/event_collector.h"
#include "agent/probe_recorder/look_pace.h"
#include "agent/probe_recorder/stack_namer.h"
#include "agent/reach/child_watch.h"
#include "agent/runs/tsc_calibration.h"
#include "agent/settings/consent.h"
#include "common/base/clock.h"
#include "common/base/file.h"

namespace fieldcost::probe {
namespace {

std::uint64_t UnixNs(WallTime time) { return MicrosOf(time) * 1000; }

Status CheckMayRecord(const settings::AgentPaths& paths, bool local) {
  FIELDCOST_TRY(CheckProbesPermitted(paths));
  if (local) return {};
  FIELDCOST_ASSIGN(const settings::Consent consent, ProbeConsent(paths));
  if (consent.mode == settings::Mode::kOn) return {};
  return Fail(
      ErrorCode::kPermissionDenied,
      "probe points are off: fieldcost probe on records and sends them; --local records them "
      "for this machine only");
}

class Recorder {
 public:
  Recorder(const settings::AgentPaths& paths, const RecordOptions& options, const Clock& clock,
           Session& session, Spool& spool)
      : options_(options),
        clock_(clock),
        session_(session),
        collector_(paths, session, spool, namer_, {}) {}

  Status Prepare(std::filesystem::path library) {
    plan_.library = std::move(library);
    if (!options_.points.empty()) {
      FIELDCOST_ASSIGN(plan_.points, ReadPoints(options_.points));
    }
    plan_.session = session_.id();
    plan_.tsc_to_ns_multiplier = runs::CalibrateTsc();
    plan_.starter = ::getpid();
    plan_.stacks = options_.stacks;
    plan_.local = options_.local;
    plan_.build = options_.build;
    plan_.tags = options_.tags;
    return {};
  }

  Result<int> RunOnce(RunInput& input) {
    plan_.start_unix_ns = UnixNs(clock_.Now());
    FIELDCOST_ASSIGN(Variables variables, WritePlan(session_.directory(), plan_));
    FIELDCOST_ASSIGN(const int read, input.Next());
    FIELDCOST_ASSIGN(perf::CommandChild child,
                     perf::CommandChild::Prepare(options_.command, variables, read));
    plan_.start_unix_ns = UnixNs(clock_.Now());
    FIELDCOST_TRY(WritePlan(session_.directory(), plan_));
    child.Go();
    reach::ChildWatch children({.uid = ::getuid(), .library = plan_.library.filename().string()},
                               child.pid());
    LookPace pace;
    for (;;) {
      FIELDCOST_ASSIGN(const bool is_over, child.EndsWithin(pace.wait()));
      children.LookIfDue();
      // An error of the recorder must not stop the program.
      auto report = collector_.Look(is_over);
      failure_ = report ? std::nullopt : std::optional(report.error());
      if (report) report_ = *report;
      pace.After(report ? report->written : 0);
      if (!is_over) continue;
      for (std::string& program : children.Unmeasured()) unmeasured_.insert(std::move(program));
      return child.Wait();
    }
  }

  const std::set<std::string>& unmeasured() const { return unmeasured_; }
  const Collector::Report& report() const { return report_; }
  std::vector<std::string> Unreached() const {
    return ExplainUnreached(plan_.points.named, collector_.seen_points());
  }
  // The error of the last look.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  const RecordOptions& options_;
  const Clock& clock_;
  Session& session_;
  StackNamer namer_;
  Collector collector_;
  PlanOptions plan_;
  Collector::Report report_;
  std::optional<Error> failure_;
  std::set<std::string> unmeasured_;
};

// Where a recording is stored.
struct Storage {
  Spool spool;
  Session session;
};

Result<Storage> OpenStorage(const settings::AgentPaths& paths, const RecordOptions& options) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  FIELDCOST_ASSIGN(Spool spool, Spool::Open(SpoolFile(paths)));
  FIELDCOST_ASSIGN(Session session, Session::Make(paths, options.session));
  // If this process is killed, this file causes the collector to be started.
  FIELDCOST_TRY(WriteFileAtomically(WorkFile(paths), "", 0600));
  return Storage{.spool = std::move(spool), .session = std::move(session)};
}

// Runs the command the same number of times, without the library.
Result<Recorded> RunUnrecorded(const RecordOptions& options, RunInput& input, std::string why) {
  Recorded result;
  result.why_not = std::move(why);
  for (; result.runs < options.runs && perf::StoppedBy() == 0; ++result.runs) {
    FIELDCOST_ASSIGN(const int read, input.Next());
    FIELDCOST_ASSIGN(perf::CommandChild child,
                     perf::CommandChild::Prepare(options.command, {}, read));
    FIELDCOST_ASSIGN(const int status, child.Wait());
    if (result.status == 0) result.status = status;
  }
  return result;
}

}  // namespace

Result<Recorded> Record(const settings::AgentPaths& paths, const RecordOptions& options,
                        const Clock& clock) {
  FIELDCOST_TRY(CheckMayRecord(paths, options.local));
  FIELDCOST_ASSIGN(RunInput input, perf::InputOfRuns(options.input, options.runs));
  perf::HandleSignals();
  Result<Storage> storage = OpenStorage(paths, options);
  if (!storage && options.session != 0) return storage.error();
  if (!storage) return RunUnrecorded(options, input, storage.error().message);
  auto& [spool, session] = *storage;
  Recorder recorder(paths, options, clock, session, spool);
  FIELDCOST_TRY(recorder.Prepare(options.library));
  Recorded recorded;
  while (recorded.runs < options.runs && perf::StoppedBy() == 0) {
    FIELDCOST_ASSIGN(const int status, recorder.RunOnce(input));
    if (recorded.status == 0) recorded.status = status;
    ++recorded.runs;
  }
  if (recorder.failure()) {
    return Fail(recorder.failure()->code,
                "{}; the recorded points stay in memory: fieldcost probe flush",
                recorder.failure()->message);
  }
  recorded.programs = recorder.report().runs;
  recorded.hits = recorder.report().hits;
  recorded.lost = recorder.report().lost;
  recorded.unreached = recorder.Unreached();
  recorded.unmeasured = recorder.unmeasured();
  recorded.goes_on = recorder.report().has_programs;
  if (!recorded.goes_on) FIELDCOST_TRY(session.Remove());
  FIELDCOST_TRY(spool.Trim());
  return recorded;
}

}  // namespace fieldcost::probe

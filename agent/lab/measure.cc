#include "agent/lab/measure.h"

#include <algorithm>
#include <utility>

#include "agent/lab/disturbance.h"
#include "common/base/text.h"
#include "common/shm/mix.h"

namespace fieldcost::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Step = MeasureProgress::Step;

// The number of new plans after which APIs that still cause surprises are timed alone.
constexpr std::uint32_t kMostReplans = 10;
// Maximum number of attempts to time a group in a round before its APIs are left out of that round.
constexpr int kMostTries = 12;
// Maximum number of repetitions of a disturbed run before it is kept.
constexpr int kMostRepeats = 3;

// Ends the measurement; finished rounds are kept.
struct Stop {
  StoppedBy by;
  std::string detail;
};

class Session {
 public:
  Session(const MeasureOptions& options,
          const std::function<void(const MeasureProgress&)>& progress)
      : options_(options), progress_(progress), disturbance_(options.plain_loop) {}

  Result<Measurement> Run() {
    FIELDCOST_TRY(RunPlain());
    FIELDCOST_TRY(MakeMap());
    ChooseSeed();
    FIELDCOST_TRY(Plan());
    if (!options_.plan_only) {
      for (std::uint32_t round = 1; round <= options_.rounds && !stop_; ++round) {
        FIELDCOST_TRY(TimeRound(round));
      }
    }
    if (stop_) {
      found_.stopped = stop_->by;
      found_.stop_detail = stop_->detail;
    }
    return std::move(found_);
  }

 private:
  // The outcome of a timing run.
  enum class Outcome { kAccepted, kSurprised, kFailed, kDisturbed };

  Status Prepare() {
    if (options_.prepare.empty()) return {};
    FIELDCOST_ASSIGN(const int status, RunShell(options_.prepare));
    if (status == 0) return {};
    return Fail(ErrorCode::kInvalidArgument, "--prepare '{}' ended with status {}",
                EscapeControl(options_.prepare), status);
  }

  bool IsAccepted(int status) const {
    if (options_.accept_any_status) return true;
    return options_.accepted_statuses.empty() ? status == 0
                                              : options_.accepted_statuses.contains(status);
  }

  static std::string Said(const ScenarioRun& run) {
    const std::string_view text = Trim(run.last_errors);
    if (text.empty()) return "it wrote nothing to its standard error";
    const std::size_t line = text.rfind('\n');
    return "it wrote last: " +
           EscapeControl(line == std::string_view::npos ? text : text.substr(line + 1));
  }

  Status CheckEnd(const ScenarioRun& run, std::string_view what) const {
    if (run.interrupted) return Fail(ErrorCode::kDeadlineExceeded, "interrupted in the {}", what);
    if (run.timed_out) {
      return Fail(ErrorCode::kDeadlineExceeded, "{}: the command did not end within {} s", what,
                  options_.runner.scenario.timeout->count() / 1000);
    }
    return {};
  }

  Status RunPlain() {
    for (std::uint32_t i = 0; i < options_.warmup; ++i) {
      progress_({.step = Step::kWarmup, .round = i + 1, .rounds = options_.warmup});
      FIELDCOST_TRY(Prepare());
      FIELDCOST_ASSIGN(const ScenarioRun run, RunScenario(options_.runner.scenario));
      FIELDCOST_TRY(CheckEnd(run, "warm-up"));
    }
    progress_({.step = Step::kPlain});
    FIELDCOST_TRY(Prepare());
    FIELDCOST_ASSIGN(found_.plain, RunScenario(options_.runner.scenario));
    FIELDCOST_TRY(CheckEnd(found_.plain, "plain run"));
    if (IsAccepted(found_.plain.status)) return {};
    return Fail(ErrorCode::kInvalidArgument,
                "the command fails without being measured: status {}; {} (--ignore-failure "
                "accepts it)",
                found_.plain.status, Said(found_.plain));
  }

  PlanFile NewPlan(std::uint32_t mode) const {
    return {.mode = mode,
            .tsc_to_ns_multiplier = options_.tsc_to_ns_multiplier,
            .entries = {},
            .globs = options_.apis,
            .data_slots = options_.data_slots};
  }

  Status MakeMap() {
    progress_({.step = Step::kMap});
    FIELDCOST_TRY(Prepare());
    FIELDCOST_ASSIGN(const LabRun map, RunWithLibrary(options_.runner, NewPlan(shm::kLabMap)));
    FIELDCOST_TRY(CheckEnd(map.scenario, "map run"));
    if (map.scenario.status != found_.plain.status) {
      return Fail(
          ErrorCode::kInternal,
          "the command fails only when it is measured (map run): status {} instead of {}; {}",
          map.scenario.status, found_.plain.status, Said(map.scenario));
    }
    if (map.files.empty()) {
      return Fail(ErrorCode::kUnsupported,
                  "no program of the scenario can be measured (static, privileged, with a garbage "
                  "collector that searches registers, or limited to little memory)");
    }
    found_.map_ns = map.scenario.wall_ns;
    found_.programs = static_cast<std::uint32_t>(map.files.size());
    for (const LabFile& file : map.files) {
      found_.candidates += file.candidates;
      // A program stops at the limit of APIs; below it, only names that are too long are left out.
      const bool is_full = file.candidates == shm::kLabApis;
      (is_full ? found_.beyond_most : found_.too_long) += file.left_out;
      found_.left_out_names.insert(file.left_out_names.begin(), file.left_out_names.end());
    }
    CountLosses(map);
    if (map.scenario.output_hash != found_.plain.output_hash) ++found_.other_outputs;
    found_.sums.AddMap(map);
    if (found_.sums.apis().empty()) {
      return Fail(ErrorCode::kNotFound, "{}",
                  options_.apis.empty()
                      ? "the scenario calls no function of a shared library through a slot"
                      : "the scenario calls nothing that --apis names");
    }
    return {};
  }

  void CountLosses(const LabRun& run) {
    found_.unmeasured.insert(run.unmeasured.begin(), run.unmeasured.end());
    for (const LabFile& file : run.files) {
      found_.lost_calls += file.lost_calls;
      found_.lost_nodes += file.lost_nodes;
      found_.refused += file.refused;
      if (!file.attached) ++found_.detached;
    }
    found_.still_running += run.still_running;
    found_.refused += run.refused_files;
  }

  // Derived from the APIs called, so that plans are repeatable.
  void ChooseSeed() {
    if (options_.seed) {
      found_.seed = *options_.seed;
      return;
    }
    std::vector<std::uint64_t> hashes;
    for (const ApiSums& api : found_.sums.apis()) hashes.push_back(api.hash);
    std::sort(hashes.begin(), hashes.end());
    found_.seed = shm::kEmptyHash;
    for (const std::uint64_t hash : hashes) found_.seed = shm::AddToHash(found_.seed, hash);
  }

  bool IsIsolated(std::uint32_t api) const {
    const std::string name = stats::DisplayName(found_.sums.apis()[api].api);
    return isolated_.contains(api) ||
           std::any_of(options_.isolate.begin(), options_.isolate.end(),
                       [&](const std::string& glob) { return GlobMatch(glob, name); });
  }

  Status Plan() {
    const PairGraph graph = found_.sums.Graph();
    if (found_.sums.apis().size() > graph.count()) {
      return Fail(
          ErrorCode::kTooLarge,
          "the scenario calls {} APIs; at most {} can be measured at once: select some with --apis",
          found_.sums.apis().size(), graph.count());
    }
    GroupOptions group_options{.seed = found_.seed, .isolated = {}};
    for (std::uint32_t api = 0; api < graph.count(); ++api) {
      if (IsIsolated(api)) group_options.isolated.push_back(api);
    }
    found_.grouping = GroupApis(graph, group_options);
    return {};
  }

  // Returns, by API, the argument by which costs are broken down in a round; kNoArgument if none.
  std::vector<std::uint32_t> ArgumentsOf(std::uint32_t round) const {
    std::vector<std::uint32_t> arguments;
    for (const ApiSums& api : found_.sums.apis()) {
      arguments.push_back(api.arguments.empty()
                              ? shm::kNoArgument
                              : api.arguments[(round - 1) % api.arguments.size()]);
    }
    return arguments;
  }

  PlanFile PlanFor(const std::vector<std::uint32_t>& group,
                   const std::vector<std::uint32_t>& arguments) const {
    PlanFile plan = NewPlan(shm::kLabTime);
    for (const ApiSums& api : found_.sums.apis()) {
      plan.entries.push_back({api.hash, shm::kLabKnown, shm::kNoArgument});
    }
    for (const std::uint32_t api : group) {
      plan.entries[api].role = shm::kLabTimed;
      plan.entries[api].argument = arguments[api];
    }
    return plan;
  }

  std::chrono::nanoseconds Elapsed() const {
    return options_.elapsed ? options_.elapsed() : SteadyClock::now() - begin_;
  }
  bool IsLate() const { return options_.max_time && Elapsed() > *options_.max_time; }
  bool IsRoomForMore() const {
    if (!options_.max_time) return true;
    const auto a_run = std::chrono::nanoseconds(timed_runs_ == 0 ? 0 : timed_ns_ / timed_runs_);
    return Elapsed() + 2 * a_run < *options_.max_time;
  }

  // Runs a group; returns nullopt if the measurement is stopped.
  Result<std::optional<LabRun>> RunGroup(PlanFile plan) {
    if (IsLate()) {
      stop_ = Stop{StoppedBy::kMaxTime, "the time of --max-time is up"};
      return std::nullopt;
    }
    if (const Status prepared = Prepare(); !prepared) {
      stop_ = Stop{StoppedBy::kPrepare, prepared.error().message};
      return std::nullopt;
    }
    if (plan.mode == shm::kLabTime) disturbance_.Begin();
    Result<LabRun> run = RunWithLibrary(options_.runner, std::move(plan));
    if (!run) {
      if (run.error().code != ErrorCode::kIo) return std::move(run).error();
      stop_ = Stop{StoppedBy::kDisk, run.error().message};
      return std::nullopt;
    }
    if (run->scenario.interrupted) {
      stop_ = Stop{StoppedBy::kInterrupt, "interrupted"};
      return std::nullopt;
    }
    if (run->scenario.timed_out) {
      stop_ = Stop{StoppedBy::kTimeout, CheckEnd(run->scenario, "timing run").error().message};
      return std::nullopt;
    }
    timed_ns_ += run->scenario.wall_ns;
    ++timed_runs_;
    return std::optional<LabRun>(*std::move(run));
  }

  // Checks that the run went as planned, on an undisturbed machine.
  Result<Outcome> Judge(const LabRun& run, int repeats) {
    const bool is_disturbed =
        disturbance_.End(run.scenario.involuntary_switches, run.scenario.wall_ns);
    if (run.scenario.status != found_.plain.status) return Outcome::kFailed;
    const Sums::Surprise surprise = found_.sums.LearnFrom(run);
    if (surprise.any()) {
      if (++found_.replans > kMostReplans) {
        isolated_.insert(surprise.apis.begin(), surprise.apis.end());
      }
      FIELDCOST_TRY(Plan());
      return Outcome::kSurprised;
    }
    if (is_disturbed && options_.repeats_disturbed && repeats < kMostRepeats && IsRoomForMore())
      return Outcome::kDisturbed;
    if (is_disturbed) ++found_.disturbed_kept;
    return Outcome::kAccepted;
  }

  // Returns the next group with an API that the round has not timed yet; empty if there is none.
  std::vector<std::uint32_t> NextGroup(std::uint32_t round,
                                       const std::set<std::uint32_t>& done) const {
    const auto& groups = found_.grouping.groups;
    const auto order = ShuffledOrder(static_cast<std::uint32_t>(groups.size()), found_.seed, round);
    for (const std::uint32_t index : order) {
      std::vector<std::uint32_t> todo;
      for (const std::uint32_t api : groups[index]) {
        if (!done.contains(api)) todo.push_back(api);
      }
      if (!todo.empty()) return todo;
    }
    return {};
  }

  void Report(std::uint32_t round, std::uint32_t group) const {
    const auto groups = static_cast<std::uint32_t>(found_.grouping.groups.size());
    const std::uint64_t left = std::uint64_t{options_.rounds - round + 1} * groups - (group - 1);
    const std::uint64_t a_run = timed_runs_ == 0 ? found_.plain.wall_ns : timed_ns_ / timed_runs_;
    progress_({.step = Step::kTime,
               .round = round,
               .rounds = options_.rounds,
               .group = std::min(group, groups),
               .groups = groups,
               .left = std::chrono::nanoseconds(left * a_run)});
  }

  // Repeats the map run in each round, to find which counts differ between runs. Returns false if
  // the measurement is stopped.
  Result<bool> CountAgain(std::uint32_t round) {
    FIELDCOST_ASSIGN(const std::optional<LabRun> run, RunGroup(NewPlan(shm::kLabMap)));
    if (!run) return false;
    if (run->scenario.status != found_.plain.status) {
      FIELDCOST_TRY(CountFailed(*run, round, 0, 0));
      return true;
    }
    CountLosses(*run);
    if (run->scenario.output_hash != found_.plain.output_hash) ++found_.other_outputs;
    const std::size_t apis = found_.sums.apis().size();
    const std::size_t pairs = found_.sums.pairs().size();
    found_.sums.AddMap(*run);
    if (found_.sums.apis().size() != apis || found_.sums.pairs().size() != pairs) {
      FIELDCOST_TRY(Plan());
    }
    return true;
  }

  Status TimeRound(std::uint32_t round) {
    FIELDCOST_ASSIGN(const bool goes_on, CountAgain(round));
    if (!goes_on) return {};
    std::vector<TimeSums> times(found_.sums.apis().size());
    std::set<std::uint32_t> done;
    std::uint32_t accepted = 0;
    std::uint32_t at = 1;
    int tries = 0;
    int repeats = 0;
    for (;;) {
      const std::vector<std::uint32_t> group = NextGroup(round, done);
      if (group.empty()) break;
      Report(round, at);
      const std::vector<std::uint32_t> arguments = ArgumentsOf(round);
      FIELDCOST_ASSIGN(const std::optional<LabRun> run, RunGroup(PlanFor(group, arguments)));
      if (!run) return {};  // the round is not finished
      FIELDCOST_ASSIGN(const Outcome outcome, Judge(*run, repeats));
      times.resize(found_.sums.apis().size());
      if (outcome == Outcome::kAccepted) {
        CountLosses(*run);
        if (run->scenario.output_hash != found_.plain.output_hash) ++found_.other_outputs;
        found_.sums.AddTimes(*run, arguments, times);
        done.insert(group.begin(), group.end());
        ++accepted;
        ++at;
        tries = repeats = 0;
        continue;
      }
      if (outcome == Outcome::kDisturbed) ++found_.disturbed_runs, ++repeats;
      if (outcome == Outcome::kSurprised) ++found_.surprised_runs;
      if (outcome == Outcome::kFailed) FIELDCOST_TRY(CountFailed(*run, round, at, accepted));
      if (++tries < kMostTries) continue;
      GiveUp(group);
      done.insert(group.begin(), group.end());
      tries = repeats = 0;
    }
    found_.sums.AddRound(times);
    found_.accepted_runs += accepted;
    ++found_.finished_rounds;
    return {};
  }

  // Runs with another exit status are discarded if they are occasional; if all runs have one,
  // measuring is the cause.
  Status CountFailed(const LabRun& run, std::uint32_t round, std::uint32_t group,
                     std::uint32_t accepted) {
    constexpr std::uint32_t kMostFailures = 10;
    if (++found_.failed_runs < kMostFailures || found_.accepted_runs + accepted != 0) {
      return {};
    }
    return Fail(
        ErrorCode::kInternal,
        "the command fails only when it is measured (round {}, group {}): status {} instead "
        "of {}; {}",
        round, group, run.scenario.status, found_.plain.status, Said(run.scenario));
  }

  void GiveUp(const std::vector<std::uint32_t>& group) {
    for (const std::uint32_t api : group) {
      std::string name = stats::DisplayName(found_.sums.apis()[api].api);
      auto& unstable = found_.unstable;
      if (std::find(unstable.begin(), unstable.end(), name) == unstable.end()) {
        unstable.push_back(std::move(name));
      }
    }
  }

  const MeasureOptions& options_;
  const std::function<void(const MeasureProgress&)>& progress_;
  Disturbance disturbance_;
  Measurement found_;
  std::set<std::uint32_t> isolated_;
  std::optional<Stop> stop_;
  SteadyClock::time_point begin_ = SteadyClock::now();
  std::uint64_t timed_ns_ = 0;
  std::uint64_t timed_runs_ = 0;
};

}  // namespace

Result<Measurement> Measure(const MeasureOptions& options,
                            const std::function<void(const MeasureProgress&)>& progress) {
  Result<Measurement> found = Session(options, progress).Run();
  if (!options.cleanup.empty()) {
    const Result<int> status = RunShell(options.cleanup);
    if (found) found->cleanup_status = status ? *status : -1;
  }
  return found;
}

}  // namespace fieldcost::lab

#include "agent/lab/lab_run.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <system_error>

#include "agent/reach/child_watch.h"
#include "agent/runs/liveness.h"
#include "common/base/log.h"

namespace fieldcost::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kLookMs = 10;
constexpr int kPatienceMs = 5000;

std::vector<fs::path> LabFilesIn(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == shm::kLabFileSuffix) files.push_back(entry.path());
  }
  return files;
}

void RemoveLabFiles(const fs::path& directory) {
  std::error_code error;
  for (const fs::path& path : LabFilesIn(directory)) fs::remove(path, error);
}

// Waits for a program that outlives the command; `patience_ms` is shared by all such programs.
bool WaitUntilEnded(const runs::RunFileBytes& bytes, int& patience_ms) {
  while (runs::IsBeingWritten(bytes.fd())) {
    if (patience_ms <= 0) return false;
    // F_OFD_GETLK only queries the lock and cannot wait for it, so this polls.
    ::poll(nullptr, 0, kLookMs);
    patience_ms -= kLookMs;
  }
  return true;
}

}  // namespace

Result<LabRun> RunWithLibrary(const LabRunner& runner, PlanFile plan) {
  RemoveLabFiles(runner.directory);
  const bool is_map = plan.mode == shm::kLabMap;
  FIELDCOST_TRY(WritePlan(runner.directory, std::move(plan)));
  ScenarioOptions scenario = runner.scenario;
  scenario.library = runner.library;
  scenario.environment.emplace_back(shm::kLabDirectoryVariable, runner.directory.string());
  std::optional<reach::ChildWatch> children;
  if (is_map) {
    scenario.look = [&](pid_t command) {
      if (!children) {
        children.emplace(
            reach::SurveyOptions{.uid = ::getuid(), .library = runner.library.filename().string()},
            command);
      }
      children->LookIfDue();
    };
  }
  LabRun run;
  FIELDCOST_ASSIGN(run.scenario, RunScenario(scenario));
  if (children) run.unmeasured = children->Unmeasured();
  int patience_ms = run.scenario.timed_out || run.scenario.interrupted ? 0 : kPatienceMs;
  for (const fs::path& path : LabFilesIn(runner.directory)) {
    const auto bytes = runs::RunFileBytes::Open(path);
    if (!bytes) {
      ++run.refused_files;
      continue;
    }
    if (!WaitUntilEnded(*bytes, patience_ms)) ++run.still_running;
    Result<LabFile> file = ReadLabFile(*bytes);
    if (file) {
      run.files.push_back(*std::move(file));
    } else if (file.error().code != ErrorCode::kUnavailable) {
      ++run.refused_files;
    }
  }
  RemoveLabFiles(runner.directory);
  return run;
}

}  // namespace fieldcost::lab

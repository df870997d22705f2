#include "agent/perf/process_maps.h"

#include <utility>

namespace fieldcost::perf {
namespace {

constexpr std::size_t kMostProcesses = 65'536;

}  // namespace

unwind::ModuleMap& ProcessMaps::Of(pid_t pid) {
  const auto found = maps_.find(pid);
  if (found != maps_.end()) return found->second;
  // Too many maps, since exit records were lost: starts over.
  if (maps_.size() >= kMostProcesses) maps_.clear();
  auto map = unwind::ReadModuleMap(pid);
  return maps_.emplace(pid, map ? std::move(*map) : unwind::ModuleMap(pid)).first->second;
}

bool ProcessMaps::Take(const MapRecord& record) {
  unwind::ModuleMap& map = Of(record.pid);
  if (record.executable) return map.Add(record.mapping);
  map.Remove(record.mapping.start, record.mapping.end);
  return false;
}

void ProcessMaps::Take(const ForkRecord& record) {
  if (record.pid == record.parent_pid) return;  // a thread
  const auto parent = maps_.find(record.parent_pid);
  if (parent != maps_.end())
    maps_.insert_or_assign(record.pid, parent->second.ForkedTo(record.pid));
}

}  // namespace fieldcost::perf

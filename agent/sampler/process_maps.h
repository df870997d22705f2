#pragma once

#include <sys/types.h>

#include <map>

#include "agent/sampler/perf_record.h"
#include "common/unwind/module_map.h"

namespace fieldcost::sampler {

// What is mapped in processes, kept up to date by what the kernel tells of them, and read where it
// has told nothing yet. Not thread-safe.
class ProcessMaps {
 public:
  // Lives until the process's end is taken, or there are too many. Of a process that is gone:
  // empty.
  unwind::ModuleMap& Of(pid_t pid);
  bool Knows(pid_t pid) const { return maps_.contains(pid); }
  // Forgets a map; it is read again when it is asked for.
  void Forget(pid_t pid) { maps_.erase(pid); }

  // True: executable memory was added.
  bool Take(const MapRecord& record);
  void Take(const ForkRecord& record);
  void Take(const ExecRecord& record) { Of(record.pid).Clear(); }
  // Other threads may outlive the first one, but hardly any does; their map is read again then.
  void Take(const ExitRecord& record) {
    if (record.pid == record.tid) Forget(record.pid);
  }

 private:
  std::map<pid_t, unwind::ModuleMap> maps_;
};

}  // namespace fieldcost::sampler

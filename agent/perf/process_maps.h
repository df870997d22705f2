#pragma once

#include <sys/types.h>

#include <map>

#include "agent/perf/perf_record.h"
#include "agent/unwind/module_map.h"

namespace fieldcost::perf {

// The mappings of processes, kept up to date from the kernel's records, and read from /proc for
// processes without records. Not thread-safe.
class ProcessMaps {
 public:
  // Returns a process's map, valid until its exit record is taken or there are too many maps. Empty
  // if the process has ended.
  unwind::ModuleMap& Of(pid_t pid);
  bool Knows(pid_t pid) const { return maps_.contains(pid); }
  // Drops a map; it is read again when needed.
  void Forget(pid_t pid) { maps_.erase(pid); }

  // Returns whether executable memory was added.
  bool Take(const MapRecord& record);
  void Take(const ForkRecord& record);
  void Take(const ExecRecord& record) { Of(record.pid).Clear(); }
  // Other threads rarely outlive the first one; if they do, their map is read again.
  void Take(const ExitRecord& record) {
    if (record.pid == record.tid) Forget(record.pid);
  }

 private:
  std::map<pid_t, unwind::ModuleMap> maps_;
};

}  // namespace fieldcost::perf

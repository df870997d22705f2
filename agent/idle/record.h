#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/idle/schema.h"

namespace fieldcost::idle_agent {

struct RecordOptions {
  std::filesystem::path output;       // a recording; one that is there is replaced
  std::optional<idle::Mode> mode;     // none: bpf, else unprivileged
  std::uint64_t tick_ns = 2'003'003;  // between two looks at the clock; not in step with timers
  std::vector<std::string> command;   // [0] is looked up in PATH
  std::uint32_t runs = 1;             // of the command; one that fails is the last
  std::filesystem::path input;        // its standard input in each run; empty: ours
  pid_t pid = 0;                      // not 0: this process, and no command
  bool all = false;                   // all processes; neither of both
  std::uint64_t for_ns = 0;           // without a command; 0: until it ends, or a signal
  bool unnamed = false;               // names are not looked up
};

struct RecordResult {
  int status = 0;  // of the command's last run, as a shell shows it
  std::uint32_t runs = 0;
  idle::About about;
  std::uint64_t idle_ns = 0;
  std::uint64_t explained_ns = 0;
  std::uint64_t reader_ns = 0;  // this process's CPU time until names are looked up
  std::map<std::string, std::uint64_t> counts;
};

// Records why CPUs are idle while the command runs, or the process. SIGINT, SIGTERM and SIGHUP end
// it, and what was recorded is good; they are handled for the whole process from then on. Without a
// mode it chooses one, and says why. REQUIRES: one thread. kPermissionDenied and kUnsupported name
// what is missing.
Result<RecordResult> Record(const RecordOptions& options);

}  // namespace fieldcost::idle_agent

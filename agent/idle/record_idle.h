#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/idle/idle_schema.h"

namespace fieldcost::idle_agent {

struct RecordOptions {
  std::filesystem::path output;       // a recording; an existing one is replaced
  std::optional<idle::Mode> mode;     // nullopt: bpf if permitted, else unprivileged
  std::uint64_t tick_ns = 2'003'003;  // sampling interval; chosen to be out of step with timers
  std::vector<std::string> command;   // [0] is looked up in PATH
  std::uint32_t runs = 1;             // of the command; a failing run is the last
  std::filesystem::path input;        // standard input of each run; empty: inherited
  pid_t pid = 0;                      // if not 0, records this process instead of a command
  bool all = false;                   // records all processes instead
  std::uint64_t for_ns = 0;           // time limit without a command; 0: none
  bool unnamed = false;               // does not look up names
};

struct RecordResult {
  int status = 0;  // exit status of the last run, in the shell's convention
  std::uint32_t runs = 0;
  idle::About about;
  std::uint64_t idle_ns = 0;
  std::uint64_t explained_ns = 0;
  std::uint64_t reader_ns = 0;  // this process's CPU time until names are looked up
  std::map<std::string, std::uint64_t> counts;
};

// Records why CPUs are idle while the command or process runs. SIGINT, SIGTERM and SIGHUP end the
// recording, which is then valid; they are handled for the whole process from then on. Without a
// mode, chooses one and states the reason in `about`. REQUIRES: the process has one thread. Returns
// kPermissionDenied or kUnsupported, with a message that states what is missing.
Result<RecordResult> Record(const RecordOptions& options);

}  // namespace fieldcost::idle_agent

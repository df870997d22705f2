// Texts from /proc, which include thread names that programs choose.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/idle/idle_clock.h"
#include "agent/idle/idle_thread_state.h"
#include "agent/idle/proc_stat.h"
#include "agent/perf/process_threads.h"
#include "agent/perf/wait_stack.h"
#include "agent/probe_recorder/cpu_wait.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::uint32_t cpu : {0U, 1U, UINT32_MAX}) (void)idle_agent::ParseRunTime(text, cpu);
  (void)idle_agent::ParseRunDelay(text);
  FIELDCOST_CHECK(idle_agent::ParseStatIdle(std::string(text)).size() <= size);
  // The three files of a thread, separated by zero bytes.
  const std::string_view stat = text.substr(0, text.find('\0'));
  const std::string_view rest = text.substr(std::min(size, stat.size() + 1));
  const std::string_view schedstat = rest.substr(0, rest.find('\0'));
  const std::string_view sched = rest.substr(std::min(rest.size(), schedstat.size() + 1));
  (void)idle_agent::ParseThreadState(stat, schedstat, sched);
  FIELDCOST_CHECK(perf::StatFromState(text).size() <= size);
  (void)perf::ParseWaitPlace(text);
  (void)probe::ParseCpuWait(text);
  (void)probe::IsZombie(text);
  return 0;
}

#include "common/serve/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace fieldcost::serve {
namespace {

// The process's start, in seconds since boot; see proc(5), /proc/pid/stat.
double StartSinceBoot() {
  constexpr int kFieldsBefore = 19;  // fields before starttime, after the name in parentheses
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBefore; ++i) fields >> skipped;
  double ticks = 0;
  fields >> ticks;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double Now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

ProcessFacts ReadProcessFacts() {
  ProcessFacts facts;
  facts.cpu_seconds = Now(CLOCK_PROCESS_CPUTIME_ID);
  facts.start_seconds = Now(CLOCK_REALTIME) - Now(CLOCK_BOOTTIME) + StartSinceBoot();
  std::ifstream memory("/proc/self/statm");
  memory >> facts.virtual_bytes >> facts.resident_bytes;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  facts.virtual_bytes *= page_bytes;
  facts.resident_bytes *= page_bytes;
  std::error_code error;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", error), end; !error && fd != end;
       fd.increment(error)) {
    ++facts.open_fds;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.max_fds = limit.rlim_cur;
  return facts;
}

}  // namespace fieldcost::serve

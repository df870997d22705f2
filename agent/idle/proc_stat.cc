#include "agent/idle/proc_stat.h"

#include <cstdio>
#include <sstream>

#include "common/base/file.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 22;

}  // namespace

StatIdle ParseStatIdle(const std::string& untrusted_text) {
  StatIdle all;
  std::istringstream lines(untrusted_text);
  for (std::string line; std::getline(lines, line);) {
    unsigned cpu = 0;
    unsigned long long idle = 0;
    unsigned long long wait = 0;
    if (std::sscanf(line.c_str(), "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &wait) == 3)
      all[cpu] = (idle + wait) * kStatUnitNs;
  }
  return all;
}

Result<StatIdle> ReadStatIdle() {
  FIELDCOST_ASSIGN(const std::string text, ReadFile("/proc/stat", kMostBytes));
  return ParseStatIdle(text);
}

}  // namespace fieldcost::idle_agent

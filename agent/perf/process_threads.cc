#include "agent/perf/process_threads.h"

#include <dirent.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::perf {

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  const std::string path = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return threads;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (const auto tid = ParseUint64(entry->d_name)) threads.push_back(static_cast<pid_t>(*tid));
  }
  return threads;
}

std::string_view StatFromState(std::string_view untrusted_text) {
  const std::size_t name_end = untrusted_text.rfind(") ");
  return name_end == std::string_view::npos ? "" : untrusted_text.substr(name_end + 2);
}

bool IsWaitingState(char state) {
  return std::string_view("SDTtI").find(state) != std::string_view::npos;
}

bool IsWaiting(pid_t pid, pid_t tid) {
  const auto text = ReadFile(fmt::format("/proc/{}/task/{}/stat", pid, tid), 4096);
  const std::string_view rest = text ? StatFromState(*text) : std::string_view();
  return !rest.empty() && IsWaitingState(rest[0]);
}

}  // namespace fieldcost::perf

#include "agent/sampler/process_threads.h"

#include <dirent.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::sampler {

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

bool IsWaiting(pid_t pid, pid_t tid) {
  const auto text = ReadFile(fmt::format("/proc/{}/task/{}/stat", pid, tid), 4096);
  if (!text) return false;
  // Behind the name, which may be anything.
  const std::size_t name_end = text->rfind(')');
  return name_end != std::string::npos && name_end + 2 < text->size() &&
         std::string_view("SDTtI").find((*text)[name_end + 2]) != std::string_view::npos;
}

}  // namespace fieldcost::sampler

#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// A thread whose affinity is changed for a moment.
struct ChangedMask {
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t start = 0;  // of the thread (StartOf)
  std::uint32_t cpu = 0;    // the only one that it may use meanwhile
  cpu_set_t before{};
};

// Which threads' affinity is changed just now, in a file that outlives this process: if it is
// killed, the next one puts right what it left. A slot a CPU; different slots may be written at
// once. Written without a sync: a machine that goes down takes the threads with it.
class MaskJournal {
 public:
  // A file of this process in the directory.
  static Result<std::unique_ptr<MaskJournal>> Create(const std::filesystem::path& directory);
  // Removes it: all that was changed is as it was.
  ~MaskJournal();
  MaskJournal(const MaskJournal&) = delete;
  MaskJournal& operator=(const MaskJournal&) = delete;

  // To be called before a mask is changed; if it is false, nothing may be changed.
  bool Begin(std::uint32_t cpu, const ChangedMask& changed);
  // To be called once it is restored.
  void End(std::uint32_t cpu);

 private:
  MaskJournal(std::filesystem::path path, UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  UniqueFd file_;  // locked
};

// Gives the thread its mask back, unless somebody else has changed it since. False: that was so, or
// there is no such thread any more.
bool Restore(const ChangedMask& changed);

// Restores what processes that were killed have left changed, by their journals in the directory,
// which it removes. How many threads' masks. No directory: 0.
Result<std::size_t> RestoreMasks(const std::filesystem::path& directory);

}  // namespace fieldcost::idle_agent

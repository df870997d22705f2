#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// A thread whose affinity is changed temporarily.
struct ChangedMask {
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t start = 0;  // when the thread began (StartOf)
  std::uint32_t cpu = 0;    // the only CPU that it may use in the meantime
  cpu_set_t before{};
};

// Records which threads' affinity is currently changed, in a file that outlives this process: if
// this process is killed, the next one restores the masks. One slot per CPU; different slots may be
// written concurrently. Never synced, since the threads do not survive a crash of the machine.
class MaskJournal {
 public:
  // Creates a journal of this process in the directory.
  static Result<std::unique_ptr<MaskJournal>> Create(const std::filesystem::path& directory);
  // Removes the file. REQUIRES: all masks have been restored.
  ~MaskJournal();
  MaskJournal(const MaskJournal&) = delete;
  MaskJournal& operator=(const MaskJournal&) = delete;

  // Must be called before a mask is changed. Returns false if the mask must not be changed.
  bool Begin(std::uint32_t cpu, const ChangedMask& changed);
  // Must be called after the mask was restored.
  void End(std::uint32_t cpu);

 private:
  MaskJournal(std::filesystem::path path, UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  UniqueFd file_;  // locked
};

// Restores the thread's mask. Returns false if the mask has been changed since or the thread has
// ended.
bool Restore(const ChangedMask& changed);

// Restores the masks that killed processes left changed, according to their journals in the
// directory, and removes the journals. Returns how many were restored; 0 if there is no directory.
Result<std::size_t> RestoreMasks(const std::filesystem::path& directory);

}  // namespace fieldcost::idle_agent

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace fieldcost::aggregator {

// Detects changes of files by polling them. Not thread-safe.
class FileWatch {
 public:
  explicit FileWatch(std::vector<std::filesystem::path> files)
      : files_(std::move(files)), known_(Look()), last_(known_) {}

  // Returns true once per change, and not before the files have stopped changing: two calls must
  // have found the same state.
  bool HaveChanged() {
    std::vector<Stamp> now = Look();
    const bool changed = now != known_ && now == last_;
    last_ = std::move(now);
    if (changed) known_ = last_;
    return changed;
  }

 private:
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size_bytes = 0;
    std::int64_t changed_seconds = 0;
    std::int64_t changed_nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  // A file whose status cannot be read counts as absent.
  std::vector<Stamp> Look() const {
    std::vector<Stamp> stamps;
    for (const std::filesystem::path& file : files_) {
      struct stat found {};
      Stamp stamp;
      if (::stat(file.c_str(), &found) == 0) {
        stamp = {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec,
                 found.st_ctim.tv_nsec};
      }
      stamps.push_back(stamp);
    }
    return stamps;
  }

  const std::vector<std::filesystem::path> files_;
  std::vector<Stamp> known_;
  std::vector<Stamp> last_;
};

}  // namespace fieldcost::aggregator

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fieldcost::faults {

using Random = std::mt19937_64;

// Contents of a directory's files, by name.
using DiskImage = std::map<std::string, std::string>;

// A disk's guarantees for one directory of append-only files, and nothing more: bytes, and the
// name under which a file was created, are durable once the file is synced; renames, links and
// deletions once the directory is synced. See ../README.md for the reasons. Not thread-safe.
class DiskModel {
 public:
  struct File {
    std::string current;  // what programs read
    std::string durable;  // what certainly survives a power loss
    // Ranges of `current` that a failed sync lost: later syncs do not write them either.
    std::vector<std::pair<std::size_t, std::size_t>> lost;
  };
  using FilePtr = std::shared_ptr<File>;

  explicit DiskModel(DiskImage durable = {});

  FilePtr Create(const std::string& name);  // replaces an existing file of that name
  FilePtr Find(const std::string& name) const;
  void Rename(const std::string& from, const std::string& to);
  void Link(const std::string& from, const std::string& to);
  void Remove(const std::string& name);
  void SyncDirectory();

  static void Append(File& file, std::string_view bytes) { file.current.append(bytes); }
  static void Truncate(File& file, std::size_t size) { file.current.resize(size); }
  // Completes a sync of a file whose size was `size` when the sync began.
  void Sync(const FilePtr& file, std::size_t size);
  static void FailSync(File& file);

  // Returns what exists after a power loss. Of everything unsynced: nothing, all, a torn prefix, or
  // some blocks while others are as before; likewise for names.
  DiskImage AfterPowerLoss(Random& random) const;
  // Returns what a new process reads if there was no power loss.
  DiskImage Current() const;

 private:
  struct NameChange {
    std::string from;  // empty if none
    std::string to;    // empty if none
    FilePtr file;
    bool creates = false;
  };
  using Names = std::map<std::string, FilePtr>;
  static void Apply(const NameChange& change, Names& names);
  void Change(NameChange change);

  Names names_;
  Names durable_names_;
  std::vector<NameChange> pending_;
};

}  // namespace fieldcost::faults

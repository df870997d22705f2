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

// The files of a directory by name.
using DiskImage = std::map<std::string, std::string>;

// What a disk promises about one directory of append-only files, and no more: bytes, and the name
// that a file was made with, are durable once the file was synced; renames, further names and
// deletions once the directory was. ../README.md says why.
// Not thread-safe.
class DiskModel {
 public:
  struct File {
    std::string current;  // what programs read
    std::string durable;  // what a power loss leaves for certain
    // Ranges of `current` that a failed sync lost: later syncs do not write them either.
    std::vector<std::pair<std::size_t, std::size_t>> lost;
  };
  using FilePtr = std::shared_ptr<File>;

  explicit DiskModel(DiskImage durable = {});

  FilePtr Create(const std::string& name);  // an existing file loses its name to the new one
  FilePtr Find(const std::string& name) const;
  void Rename(const std::string& from, const std::string& to);
  void Link(const std::string& from, const std::string& to);
  void Remove(const std::string& name);
  void SyncDirectory();

  static void Append(File& file, std::string_view bytes) { file.current.append(bytes); }
  static void Truncate(File& file, std::size_t size) { file.current.resize(size); }
  // The sync of a file whose size was `size` when it began.
  void Sync(const FilePtr& file, std::size_t size);
  static void FailSync(File& file);

  // What is there when the power is back: of everything that was not synced nothing, all, a torn
  // prefix, or some blocks while others are as before; of names the same.
  DiskImage AfterPowerLoss(Random& random) const;
  // What a new process reads: the system goes on.
  DiskImage Current() const;

 private:
  struct NameChange {
    std::string from;  // empty = none
    std::string to;    // empty = none
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

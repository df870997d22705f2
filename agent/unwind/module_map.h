#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/unwind/cfi_table.h"
#include "common/base/file.h"

namespace fieldcost::unwind {

// A file as the kernel identifies it in a mapping; all 0: no file.
struct FileIdentity {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

// Executable memory [start, end) of a process. The path is as seen by the process, and untrusted.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  FileIdentity file;
  std::string path;  // "[vdso]", "" and similar: no file

  // The result of TableCache's look-up.
  bool looked_up = false;
  const CfiTable* table = nullptr;         // null: the mapping has none
  std::uint64_t bias = 0;                  // address = the table's address + bias, modulo 2^64
  std::shared_ptr<const UniqueFd> opened;  // the table's file, if TableCache keeps it open
};

// Which file each part of a process's executable memory belongs to, as this changes over time. A
// plain value; not thread-safe.
class ModuleMap {
 public:
  static constexpr std::size_t kMostMappings = 65'536;

  explicit ModuleMap(pid_t pid) : pid_(pid) {}

  pid_t pid() const { return pid_; }

  // Newer mappings replace the parts of older ones that they overlap. Returns false if there are
  // too many, or if it is not a range.
  bool Add(Mapping mapping);
  // Removes memory that is no longer mapped, or no longer executable.
  void Remove(std::uint64_t start, std::uint64_t end);
  // Called when the process has executed another program.
  void Clear();
  // Returns the same mappings, for a process that was forked.
  ModuleMap ForkedTo(pid_t child) const;

  // Returns null if no executable memory is known there.
  Mapping* Find(std::uint64_t address);
  const std::vector<Mapping>& mappings() const { return mappings_; }

  // Changes with each modification; equal numbers mean equal mappings, in all maps of the process.
  std::uint64_t generation() const { return generation_; }

 private:
  void Changed();

  pid_t pid_;
  std::vector<Mapping> mappings_;  // ascending, not overlapping
  std::uint64_t generation_ = 0;
};

// Adds the executable mappings in the text of a /proc/PID/maps; ignores invalid lines.
void AddMapsText(std::string_view untrusted_text, ModuleMap& map);

// Returns the current mappings of a process; kNotFound if there is no such process, or no
// permission.
Result<ModuleMap> ReadModuleMap(pid_t pid);

}  // namespace fieldcost::unwind

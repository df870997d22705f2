#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/unwind/cfi_table.h"
#include "agent/unwind/module_map.h"
#include "agent/unwind/return_path.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::unwind {

// The tables of all modules encountered: one per file, even if processes have it at several paths
// or under several inodes (identified by its build-id). They live as long as this. Not thread-safe.
class TableCache {
 public:
  // Opens the mapped file; returns an error if it cannot be opened or is no longer the same file.
  using Opener = std::function<Result<UniqueFd>(pid_t pid, const Mapping& mapping)>;

  struct Options {
    std::size_t most_bytes = std::size_t{1} << 30;  // of all tables and code
    Opener open;                                    // empty: OpenMappedFile
  };

  // Maximum number of files that stay open, so that their names can be read after they were
  // replaced or deleted and their processes have ended.
  static constexpr std::size_t kMostOpenFiles = 64;

  explicit TableCache(Options options);
  TableCache() : TableCache(Options()) {}

  // Finds or builds the mapping's table, once.
  void LookUp(pid_t pid, Mapping& mapping);
  // Returns whether a look-up is fast: no table must be built from a file.
  bool IsQuick(const Mapping& mapping) const {
    return mapping.looked_up || mapping.file == FileIdentity() || by_file_.contains(mapping.file);
  }

  // The code of a mapping with a table, for addresses that the table has no rules for. Read from
  // the file at the first call. Null if it cannot be read or is larger than kMostCodeBytes.
  static constexpr std::uint64_t kMostCodeBytes = std::uint64_t{16} << 20;
  FollowedCode* CodeOf(pid_t pid, const Mapping& mapping);

  std::size_t tables() const { return tables_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }
  // Number of files for which no table could be built: not opened, not understood, or no room.
  std::size_t failures() const { return failures_; }

 private:
  const CfiTable* Make(pid_t pid, const Mapping& mapping);
  const CfiTable* Keep(Result<CfiTable> table);
  std::unique_ptr<FollowedCode> ReadCode(pid_t pid, const Mapping& mapping) const;

  Options options_;
  std::map<FileIdentity, const CfiTable*> by_file_;
  std::map<std::string, const CfiTable*> by_build_id_;
  std::vector<std::unique_ptr<const CfiTable>> tables_;
  std::map<const CfiTable*, std::shared_ptr<const UniqueFd>> files_;
  std::map<const CfiTable*, std::unique_ptr<FollowedCode>> code_;
  const CfiTable* vdso_ = nullptr;
  bool vdso_made_ = false;
  std::size_t memory_bytes_ = 0;
  std::size_t failures_ = 0;
};

// Opens the mapped file, even if it was deleted or replaced: by /proc/PID/map_files where that is
// permitted, by the process's own root and path, by our path, or by /proc/PID/exe. Returns
// kNotFound if these places now hold another file (not detected on overlays, which show other
// inodes than mappings do).
Result<UniqueFd> OpenMappedFile(pid_t pid, const Mapping& mapping);

}  // namespace fieldcost::unwind

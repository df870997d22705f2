#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::publish {

// A file that is missing or differs from what was written.
struct DamagedFile {
  std::filesystem::path path;
  std::string why;
  // True if the next publication rewrites or removes it; otherwise it must be restored from a
  // backup.
  bool is_mended_by_publication = false;
};

struct FileReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<DamagedFile> damaged;
};

// Reads everything that clients fetch (data_dir/publish) and the signing keys (data_dir/keys), and
// verifies signatures and hashes. Changes nothing. A directory without any publication is intact.
// kIo: a directory cannot be listed. REQUIRES: no publication or change of keys runs meanwhile.
Result<FileReport> CheckFiles(const std::filesystem::path& data_dir);

// "FILE: WHY", for people.
std::string Describe(const DamagedFile& damaged);

}  // namespace fieldcost::publish

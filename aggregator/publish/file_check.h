#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::publish {

// A file that is not what was written, or that is missing.
struct DamagedFile {
  std::filesystem::path path;
  std::string why;
  // The next publication writes it anew or removes it; any other has to come from a backup.
  bool is_mended_by_publication = false;
};

struct FileReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<DamagedFile> damaged;
};

// Reads everything that clients get (data_dir/publish) and the signing keys (data_dir/keys), and
// compares it with the signatures and hashes that vouch for it. Changes nothing. A directory in
// which nothing was ever published is whole. kIo: a directory cannot be listed. REQUIRES: nothing
// publishes or changes keys meanwhile.
Result<FileReport> CheckFiles(const std::filesystem::path& data_dir);

// "FILE: WHY", for people.
std::string Describe(const DamagedFile& damaged);

}  // namespace fieldcost::publish

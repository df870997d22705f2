#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::aggregator {

// The list of files saved with a store's backup, as text (BACKUP.md has the grammar and an
// example). Pure.

struct BackedUpFile {
  std::string path;  // in the data directory: keys/NAME, publish/NAME or publish/root/NUMBER
  unsigned mode = 0600;
  std::size_t size_bytes = 0;
  std::string sha256;  // 64 hex digits
  bool operator==(const BackedUpFile&) const = default;
};

inline constexpr std::size_t kMaxBackedUpFiles = 10'000;
inline constexpr std::size_t kMaxBackedUpFileBytes = std::size_t{4} << 20;

std::string EncodeManifest(const std::vector<BackedUpFile>& files);
// kCorrupt: malformed, changed, or with a path of another form; kUnsupported: a newer version.
Result<std::vector<BackedUpFile>> DecodeManifest(std::string_view untrusted_text);

}  // namespace fieldcost::aggregator

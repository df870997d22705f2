#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// A name for files about something named `untrusted_name`, which any file system can hold and any
// URL, unescaped: letters, digits, '_', '-' and '.' stay, every other byte (and a '.' or '-' in
// front) becomes ~XX. Different names give different ones: long ones end with a hash.
std::string SafeFileName(std::string_view untrusted_name);

inline constexpr std::size_t kMaxFileNameBytes = 160;

// Gives out such names, in which also upper and lower case make no difference. Not thread-safe.
class FileNames {
 public:
  std::string Take(std::string_view untrusted_name);

 private:
  std::set<std::string> taken_;  // in lower case
};

// Writes what can be made again at any time: not atomically, not durably. kIo, kPermissionDenied.
Status WriteDocument(const std::filesystem::path& path, std::string_view bytes);

}  // namespace fieldcost::cli

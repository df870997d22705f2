#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/build_id.h"
#include "common/base/file.h"
#include "common/base/read_at.h"

namespace fieldcost::testing {

inline std::string BuildIdIn(const std::string& bytes) {
  return fieldcost::BuildIdIn(ReaderOf(std::string_view(bytes)));
}

inline std::string BuildIdOfFile(const std::filesystem::path& path) {
  constexpr std::size_t kMaxLibraryBytes = 64 << 20;
  const auto bytes = ReadFile(std::filesystem::canonical(path), kMaxLibraryBytes);
  return bytes ? BuildIdIn(*bytes) : std::string();
}

}  // namespace fieldcost::testing

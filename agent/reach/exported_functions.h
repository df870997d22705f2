#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "common/base/read_at.h"

namespace fieldcost::reach {

// The names of the functions that a shared library offers to programs: defined in its dynamic
// symbol table with default or protected visibility, in a version that new programs can link.
struct ExportedFunctions {
  std::set<std::string> untrusted_names;
  // Names that our libraries never measure (shm::kNeverMeasured), and functions that only the
  // loader calls.
  std::set<std::string> untrusted_never_measured;
};

// Reads at most kMaxExports symbols of the untrusted bytes. nullopt if they are not a shared
// library of this machine, or have more symbols. Pure.
inline constexpr std::size_t kMaxExports = 1 << 20;
std::optional<ExportedFunctions> ReadExports(const ReadAt& read);

// The same for a file; nullopt also if it cannot be read.
std::optional<ExportedFunctions> ExportsOfLibrary(const std::filesystem::path& file);

}  // namespace fieldcost::reach

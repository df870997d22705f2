#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/analysis/requirement.h"

namespace fieldcost::cli {

// A file of requirements (`measure --require`), in TOML:
//
//   [[function]]
//   name = "libz.so.1!deflate"   # or a symbol, a C++ name, or a glob, as in
//   --apis p99 = "1 ms"                 # p50, p90, p95, p99, mean: time per
//   call allocated = "0 B"            # per call, also disk_read, disk_written,
//   net_received, net_sent calls = 100                  # per run growing =
//   false              # the bytes that calls leave allocated
//
// Each function needs a name and a limit. README.md describes the figures.

inline constexpr std::size_t kMostRequiredFunctions = 1'000;

// kNotFound, kPermissionDenied, or kInvalidArgument with line and column.
Result<std::vector<analysis::Requirement>> ReadRequirements(const std::filesystem::path& file);
// The same for its content; `name` replaces the path in messages.
Result<std::vector<analysis::Requirement>> ParseRequirements(std::string_view untrusted_text,
                                                             std::string_view name);

}  // namespace fieldcost::cli

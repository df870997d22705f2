#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/units.h"
#include "tools/analysis/vendor_report.h"

namespace fieldcost::cli {

// Finds the headers that declare functions. The headers are read as text, neither preprocessed nor
// parsed, so functions whose names a macro composes are not found, nor are C++ functions.

inline constexpr std::size_t kMaxHeaders = 20'000;
inline constexpr std::size_t kMaxHeaderEntries = 200'000;  // of directories
inline constexpr std::size_t kMaxHeaderFileBytes = 4 * kMiB;

// The functions that a C header declares:
//   int f(int);      extern char* f(void);      MACRO(int) f(int);      int (f)(int);
//   int f OF((int));                            MACRO(1, int, f, (int));
// Ignores comments, literals, directives with everything that a macro expands to, and braces,
// except those of extern "C". Macros and types may be among the names.
std::set<std::string> DeclaredFunctions(std::string_view untrusted_text);

// The header of each function: a file's name, or its path below the directory. Of several headers,
// the first by path. Reads files NAME.h, .hh, .hpp and .hxx at any depth; symbolic links to
// directories are not followed. kNotFound: no such path, or no header; kTooLarge: above a limit;
// kIo, kPermissionDenied.
Result<analysis::HeaderOf> ReadHeaders(const std::filesystem::path& path);

}  // namespace fieldcost::cli

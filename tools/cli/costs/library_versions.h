#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "tools/cli/costs/source.h"

namespace fieldcost::cli {

// Libraries and their versions in a command's source.

struct LibraryVersion {
  std::string name;  // analysis::VersionOf()
  std::uint64_t rows = 0;
};

// A library with its APIs' names and its versions.
struct LibraryApis {
  std::string soname;
  std::vector<std::string> symbols;      // ascending
  std::vector<LibraryVersion> versions;  // oldest first
};

// The libraries that `name` refers to (MatchLibraries). Reads names only; versions are empty.
Result<std::vector<LibraryApis>> FindLibraries(const Source& source, const std::string& name);
// The same if exactly one library is required: kInvalidArgument lists the candidates if there are
// several.
Result<LibraryApis> FindLibrary(const Source& source, const std::string& name);

// Calls `visit` for each of its APIs with all of the API's rows.
Status ForEachRowOf(const Source& source, const LibraryApis& library,
                    const std::function<void(std::span<const stats::StatRow> rows)>& visit);

// Fills in the versions; reads all of the library's rows.
Status ReadVersions(const Source& source, LibraryApis& library);

// The version that `text` refers to: the one of that name, else the only one with that prefix.
// kNotFound if none, kInvalidArgument if several; both list the versions. REQUIRES: ReadVersions().
Result<std::string> FindVersion(const LibraryApis& library, std::string_view text);

// "1.2, 1.3": all versions, escaped.
std::string VersionsText(const LibraryApis& library);

}  // namespace fieldcost::cli

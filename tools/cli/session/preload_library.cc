#include "tools/cli/session/preload_library.h"

#include <system_error>
#include <vector>

#include "agent/reach/reach.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLibraryVariable[] = "FIELDCOST_PRELOAD_LIBRARY";

}  // namespace

Result<fs::path> FindPreloadLibrary() {
  std::vector<fs::path> places;
  if (const std::string_view named = Variable(kLibraryVariable); !named.empty()) {
    places = {fs::path(named)};
  } else {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const std::string name = agent::kPreloadLibraryName;
    if (!error) places.push_back(program.parent_path().parent_path() / "lib" / name);
    places.push_back(fs::path(FIELDCOST_INSTALL_LIBRARY_DIR) / name);
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    const std::string path = fs::absolute(place).string();
    if (path.find_first_of(": ") != std::string::npos) {
      return Fail(ErrorCode::kInvalidArgument,
                  "cannot preload {}: the path holds a space or a colon, which LD_PRELOAD cannot "
                  "express",
                  path);
    }
    return fs::path(path);
  }
  return Fail(ErrorCode::kNotFound, "no measuring library at {} (set {})", places[0].string(),
              kLibraryVariable);
}

}  // namespace fieldcost::cli

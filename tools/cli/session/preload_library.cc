#include "tools/cli/session/preload_library.h"

#include <system_error>
#include <vector>

#include "agent/reach/reach.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLabLibraryName[] = "libfieldcost_lab.so";

// Where the variable says, else beside this program, else where it was installed.
Result<fs::path> FindLibrary(const std::string& name, const char* variable) {
  std::vector<fs::path> places;
  if (const std::string_view named = Variable(variable); !named.empty()) {
    places = {fs::path(named)};
  } else {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
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
              variable);
}

}  // namespace

Result<fs::path> FindPreloadLibrary() {
  return FindLibrary(agent::kPreloadLibraryName, "FIELDCOST_PRELOAD_LIBRARY");
}

Result<fs::path> FindLabLibrary() { return FindLibrary(kLabLibraryName, "FIELDCOST_LAB_LIBRARY"); }

}  // namespace fieldcost::cli

#include "tools/cli/run/installed_parts.h"

#include <system_error>
#include <vector>

#include "agent/reach/reach.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLabLibraryName[] = "libfieldcost_lab.so";
constexpr char kTraceLibraryName[] = "libfieldcost_events.so";
constexpr char kTraceProgramName[] = "fieldcost-trace";
constexpr char kIdleProgramName[] = "fieldcost-idle";
constexpr char kProbeLibraryName[] = "libfieldcost_probe.so";
constexpr char kProbeProgramName[] = "fieldcost-probe";

// The path in the variable, else in `folder` next to this program's, else the installed one.
Result<fs::path> FindBeside(const std::string& folder, const std::string& name,
                            const char* variable) {
  std::vector<fs::path> places;
  if (const std::string_view named = Variable(variable); !named.empty()) {
    places = {fs::path(named)};
  } else {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) places.push_back(program.parent_path().parent_path() / folder / name);
    places.push_back(fs::path(FIELDCOST_INSTALL_LIBRARY_DIR) / name);
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) continue;
    return fs::absolute(place);
  }
  return Fail(ErrorCode::kNotFound, "nothing at {} (set {})", places[0].string(), variable);
}

Result<fs::path> FindRecorder(const std::string& name, const char* variable) {
  const auto found = FindBeside("bin", name, variable);
  if (!found) return Within(found.error(), "no recording program");
  return found;
}

Result<fs::path> FindInstalledLibrary(const std::string& name, const char* variable) {
  const auto found = FindBeside("lib", name, variable);
  if (!found) return Within(found.error(), "no measuring library");
  if (found->string().find_first_of(": ") != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                "cannot preload {}: the path holds a space or a colon, which LD_PRELOAD cannot "
                "express",
                found->string());
  }
  return found;
}

}  // namespace

Result<fs::path> FindPreloadLibrary() {
  return FindInstalledLibrary(reach::kPreloadLibraryName, "FIELDCOST_PRELOAD_LIBRARY");
}

Result<fs::path> FindTraceProgram() {
  return FindRecorder(kTraceProgramName, "FIELDCOST_TRACE_PROGRAM");
}

Result<fs::path> FindIdleProgram() {
  return FindRecorder(kIdleProgramName, "FIELDCOST_IDLE_PROGRAM");
}

Result<fs::path> FindProbeProgram() {
  return FindRecorder(kProbeProgramName, "FIELDCOST_PROBE_PROGRAM");
}

Result<fs::path> FindProbeLibrary() {
  return FindInstalledLibrary(kProbeLibraryName, "FIELDCOST_PROBE_LIBRARY");
}

Result<fs::path> FindTraceLibrary() {
  return FindInstalledLibrary(kTraceLibraryName, "FIELDCOST_TRACE_LIBRARY");
}

Result<fs::path> FindLabLibrary() {
  return FindInstalledLibrary(kLabLibraryName, "FIELDCOST_LAB_LIBRARY");
}

}  // namespace fieldcost::cli

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/read_at.h"
#include "common/base/result.h"

namespace fieldcost::reach {

// Explains why a program can or cannot be measured. All input (program files and /proc) is
// untrusted; escape names and details before showing them. Thread-safe.

inline constexpr char kPreloadLibraryName[] = "libfieldcost_preload.so";

// The detail of kNotProgram for shared libraries.
inline constexpr char kSharedLibrary[] = "a shared library";

enum class Reach {
  kMeasuring,      // process: a run file of ours is mapped and attached
  kAble,           // no obstacle; process: the library is loaded
  kNotAsked,       // process: started without the library
  kNotLoaded,      // process: its environment names the library, but it is not loaded
  kPrivileged,     // runs with privileges that its user does not have
  kStatic,         // no dynamic linker
  kOtherMachine,   // 32-bit, or for another processor
  kOtherRoot,      // process: has another root directory, without the library
  kOtherLibc,      // the dynamic linker is not glibc's
  kSanitizer,      // built with AddressSanitizer or similar
  kSandboxStrict,  // process: in seccomp mode 1
  kSandboxFilter,  // process: measured until it entered seccomp mode 2
  kNotProgram,     // not an executable file
  kUnreadable,     // no permission to read it
};

// All of them, in display order.
inline constexpr Reach kAllReaches[] = {
    Reach::kMeasuring,  Reach::kAble,      Reach::kNotAsked,      Reach::kNotLoaded,
    Reach::kPrivileged, Reach::kStatic,    Reach::kOtherMachine,  Reach::kOtherRoot,
    Reach::kOtherLibc,  Reach::kSanitizer, Reach::kSandboxFilter, Reach::kSandboxStrict,
    Reach::kNotProgram, Reach::kUnreadable};

// Stable name for JSON: "measuring", "static", ...
std::string_view Name(Reach reach);
// The reason, as a phrase that follows a program's name and a colon.
std::string_view Phrase(Reach reach);

struct Explanation {
  Reach reach = Reach::kAble;
  std::string untrusted_detail;    // e.g. "libasan.so.8"; may be empty
  std::filesystem::path program;   // the ELF file that decides; for a script, its interpreter
  std::filesystem::path run_file;  // process, kMeasuring: the file its costs are written to
};

// Whether the dynamic linker would load the library into a program with these bytes. Reads a
// bounded part of them. Pure.
Explanation ExplainElf(const ReadAt& read);

// The same for a file that the current user would start; also considers privileged execution and
// resolves scripts to their interpreters. kNotFound if there is no such file.
Result<Explanation> ExplainProgram(const std::filesystem::path& path);

// The same without these two checks: for /proc/PID/exe, where both have already happened.
Result<Explanation> ExplainProgramFile(const std::filesystem::path& path);

// Whether this is the file name of a sanitizer's runtime library.
bool IsSanitizerRuntime(std::string_view file_name);

// Returns the program that execvp(3) would run: `name` itself if it contains a slash, else looked
// up in PATH. Empty if it is not found.
std::filesystem::path FindProgram(const std::string& name);

struct ProcessReach {
  pid_t pid = 0;
  std::string untrusted_name;
  Explanation why;
};

struct SurveyOptions {
  std::filesystem::path proc = "/proc";
  std::filesystem::path run_dir;              // AgentPaths::run_dir()
  uid_t uid = 0;                              // owner of the processes
  std::string library = kPreloadLibraryName;  // file name of the library that should be loaded
};

// kNotFound if there is no such process.
Result<ProcessReach> ExplainProcess(const SurveyOptions& options, pid_t pid);

// All processes of the user except kernel threads and zombies, in ascending order of pid. Processes
// that end meanwhile are left out.
Result<std::vector<ProcessReach>> Survey(const SurveyOptions& options);

// The user's processes that would still pass on LD_PRELOAD with `library` (absolute path). These
// are the ones with it in their initial environment. Later exports are invisible from outside, so
// this also includes processes that may have got it from session files: login and interactive
// shells and the user's systemd, with this home directory and started earlier (in clock ticks since
// boot, as in /proc/PID/stat).
struct HolderQuery {
  std::filesystem::path library;
  std::filesystem::path home;
  std::uint64_t started_before_ticks = 0;
};
Result<std::vector<ProcessReach>> LibraryHolders(const SurveyOptions& options,
                                                 const HolderQuery& query);

}  // namespace fieldcost::reach

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

namespace fieldcost::agent {

// Why a program can, or cannot, be measured. Everything that is read here, files of programs and of
// /proc, is hostile; names and details are to be escaped before they are shown. Thread-safe.

inline constexpr char kPreloadLibraryName[] = "libfieldcost_preload.so";

// The detail of kNotProgram for a shared library.
inline constexpr char kSharedLibrary[] = "a shared library";

enum class Reach {
  kMeasuring,      // of a process: a run file of ours is mapped and attached
  kAble,           // nothing stands in the way; of a process: the library is loaded
  kNotAsked,       // of a process: it was started without the library
  kNotLoaded,      // of a process: its environment names the library, but it is not there
  kPrivileged,     // runs with other privileges than its user's
  kStatic,         // no dynamic linker
  kOtherMachine,   // 32 bit, or of another processor
  kOtherRoot,      // of a process: its root directory is another one, without the library
  kOtherLibc,      // the dynamic linker is not glibc's
  kSanitizer,      // built with AddressSanitizer or its like
  kSandboxStrict,  // of a process: seccomp mode 1
  kSandboxFilter,  // of a process: it was measured until it entered seccomp mode 2
  kNotProgram,     // not an executable file
  kUnreadable,     // may not be looked at
};

// All of them, in the order in which they are shown.
inline constexpr Reach kAllReaches[] = {
    Reach::kMeasuring,  Reach::kAble,      Reach::kNotAsked,      Reach::kNotLoaded,
    Reach::kPrivileged, Reach::kStatic,    Reach::kOtherMachine,  Reach::kOtherRoot,
    Reach::kOtherLibc,  Reach::kSanitizer, Reach::kSandboxFilter, Reach::kSandboxStrict,
    Reach::kNotProgram, Reach::kUnreadable};

// Stable name for JSON: "measuring", "static", ...
std::string_view Name(Reach reach);
// The reason as a phrase that follows a program's name and a colon.
std::string_view Phrase(Reach reach);

struct Explanation {
  Reach reach = Reach::kAble;
  std::string untrusted_detail;    // e.g. "libasan.so.8"; may be empty
  std::filesystem::path program;   // the ELF file that decides: of a script, its interpreter
  std::filesystem::path run_file;  // of a process: kMeasuring: what its costs are written to
};

// Whether the dynamic linker would load the library into a program with these bytes. Reads a
// bounded part of them. Pure.
Explanation ExplainElf(const ReadAt& read);

// The same of a file that the current user starts: also whether that would be a privileged
// execution, and the interpreter of a script. kNotFound if there is no such file.
Result<Explanation> ExplainProgram(const std::filesystem::path& path);

// The same without these two: of /proc/PID/exe, which is past both.
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
  uid_t uid = 0;                              // whose processes
  std::string library = kPreloadLibraryName;  // file name of the one that should be loaded
};

// kNotFound if there is no such process.
Result<ProcessReach> ExplainProcess(const SurveyOptions& options, pid_t pid);

// All processes of the user but kernel threads and zombies, ascending by pid. Those that end
// meanwhile are left out.
Result<std::vector<ProcessReach>> Survey(const SurveyOptions& options);

// The user's processes that would still hand on LD_PRELOAD with `library` (absolute path): those
// with it in their environment; and, because what a process has exported since its start cannot be
// seen from outside, those that may have taken it from the files of a session: login and
// interactive shells, and the user's systemd, with this home directory and started before (clock
// ticks since boot, as /proc/PID/stat counts them).
struct HolderQuery {
  std::filesystem::path library;
  std::filesystem::path home;
  std::uint64_t started_before_ticks = 0;
};
Result<std::vector<ProcessReach>> LibraryHolders(const SurveyOptions& options,
                                                 const HolderQuery& query);

}  // namespace fieldcost::agent

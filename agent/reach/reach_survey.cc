// Explains running processes from /proc: ExplainProcess(), Survey() and LibraryHolders() of
// reach.h.
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>

#include "agent/reach/reach.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "common/shm/run_file.h"

namespace fieldcost::reach {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxStatusBytes = 64 << 10;
constexpr std::size_t kMaxAuxiliaryBytes = 64 << 10;
constexpr std::size_t kMaxEnvironmentBytes = 8 << 20;
constexpr std::size_t kMaxCommandBytes = 8 << 20;
constexpr std::size_t kMaxMapsBytes = 64 << 20;
constexpr std::size_t kMaxLineBytes = 8192;
constexpr std::size_t kMaxProcesses = 65536;
constexpr int kStartTimeField = 22;

constexpr std::array<std::string_view, 7> kShells = {"sh",  "dash", "bash", "zsh",
                                                     "ksh", "mksh", "yash"};

bool EndsWithName(std::string_view path, std::string_view name) {
  return path.ends_with(name) &&
         (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
}

// ---- /proc/PID/status

struct ProcessStatus {
  std::string name;
  std::uint64_t real_uid = 0;
  bool has_other_ids = false;  // effective or saved ids
  bool has_memory = false;     // kernel threads and zombies have none
  std::uint64_t seccomp = 0;
};

// The decimal numbers in a line.
std::vector<std::uint64_t> Numbers(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    if (const auto number = ParseUint64(text.substr(0, end))) numbers.push_back(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

std::optional<ProcessStatus> ReadStatus(const fs::path& directory) {
  const auto untrusted_text = ReadFile(directory / "status", kMaxStatusBytes);
  if (!untrusted_text) return std::nullopt;
  ProcessStatus status;
  bool has_uid = false;
  std::string_view rest = *untrusted_text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t colon = line.find(":\t");
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (key == "Name") status.name = value;
    if (key == "VmSize") status.has_memory = true;
    if (key == "Uid" || key == "Gid") {
      const std::vector<std::uint64_t> ids = Numbers(value);
      if (ids.size() < 3) return std::nullopt;
      if (key == "Uid") {
        status.real_uid = ids[0];
        has_uid = true;
      }
      if (ids[1] != ids[0] || ids[2] != ids[0]) status.has_other_ids = true;
    }
    if (key == "Seccomp") status.seccomp = ParseUint64(value).value_or(0);
  }
  if (!has_uid) return std::nullopt;
  return status;
}

// ---- /proc/PID/maps, auxv, environ, stat

struct Mapped {
  std::string run_file;  // path
  bool has_library = false;
  std::string sanitizer;
};

void LookAtMapping(std::string_view line, std::string_view run_prefix, std::string_view library,
                   Mapped& mapped) {
  const std::size_t begin = line.find('/');
  if (begin == std::string_view::npos) return;
  std::string_view path = line.substr(begin);
  constexpr std::string_view kDeleted = " (deleted)";
  const bool is_deleted = path.ends_with(kDeleted);
  if (is_deleted) path.remove_suffix(kDeleted.size());
  // A deleted run file will not be harvested.
  if (!is_deleted && path.starts_with(run_prefix) && path.ends_with(shm::kRunFileSuffix)) {
    mapped.run_file = path;
  }
  if (EndsWithName(path, library)) mapped.has_library = true;
  if (mapped.sanitizer.empty()) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (IsSanitizerRuntime(name)) mapped.sanitizer = name;
  }
}

// nullopt if it cannot be read.
std::optional<Mapped> ReadMaps(const fs::path& directory, const std::string& run_prefix,
                               const std::string& library) {
  const UniqueFd fd(::open((directory / "maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  Mapped mapped;
  std::string waiting;
  char chunk[65536];
  for (std::size_t total = 0; total < kMaxMapsBytes;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
    waiting.append(chunk, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = waiting.find('\n', begin)) != std::string::npos; begin = end + 1) {
      LookAtMapping(std::string_view(waiting).substr(begin, end - begin), run_prefix, library,
                    mapped);
    }
    waiting.erase(0, begin);
    if (waiting.size() > kMaxLineBytes) return std::nullopt;
  }
  return mapped;
}

// Whether the process that created this run file still measures; it stops on entering a sandbox.
bool IsAttached(const std::string& run_file) {
  const UniqueFd fd(::open(run_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  shm::RunHeader header;
  return fd.valid() && ::pread(fd.get(), &header, sizeof header, 0) == sizeof header &&
         std::memcmp(header.magic, shm::kRunMagic, sizeof header.magic) == 0 &&
         header.version == shm::kRunVersion && header.attached != 0;
}

// Whether the kernel marked the process as a privileged execution. For 64-bit processes only.
std::optional<bool> IsSecureExecution(const fs::path& directory) {
  const auto bytes = ReadFile(directory / "auxv", kMaxAuxiliaryBytes);
  if (!bytes) return std::nullopt;
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= bytes->size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::copy_n(bytes->data() + at, sizeof entry, reinterpret_cast<char*>(&entry));
    if (entry.a_type == AT_SECURE) return entry.a_un.a_val != 0;
  }
  return false;
}

// The value of a variable in a block of zero-terminated "NAME=VALUE" entries; empty if missing.
std::string_view VariableIn(std::string_view block, std::string_view name) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\0'), block.size());
    const std::string_view entry = block.substr(0, end);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return {};
}

template <typename Predicate>
bool AnyPreloaded(std::string_view environment, const Predicate& predicate) {
  std::string_view rest = VariableIn(environment, "LD_PRELOAD");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (predicate(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::optional<std::uint64_t> ReadStartTicks(const fs::path& directory) {
  const auto text = ReadFile(directory / "stat", kMaxStatusBytes);
  if (!text) return std::nullopt;
  // The second field, the name, is in parentheses and may contain anything.
  const std::size_t name_end = text->rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  for (int field = 3; field < kStartTimeField; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  return ParseUint64(rest.substr(0, rest.find(' ')));
}

// Whether a process with this command line reads session files: "-bash", "bash", "sh -lc ...", "zsh
// --login" and "systemd --user" do; "sh -c ..." and "sh script" do not.
bool ReadsSessionFiles(std::string_view command_line) {
  bool is_first = true;
  bool is_manager = false;
  while (!command_line.empty()) {
    const std::size_t end = std::min(command_line.find('\0'), command_line.size());
    const std::string_view word = command_line.substr(0, end);
    command_line.remove_prefix(std::min(end + 1, command_line.size()));
    if (is_first) {
      if (word.starts_with('-')) return true;
      const std::string_view name = word.substr(word.rfind('/') + 1);
      is_manager = name == "systemd";
      const bool is_shell = std::find(kShells.begin(), kShells.end(), name) != kShells.end();
      if (!is_manager && !is_shell) return false;
      is_first = false;
    } else if (is_manager) {
      if (word == "--user") return true;
    } else {
      if (!word.starts_with('-')) return false;  // a command or a script
      if (word == "--login") return true;
      if (!word.starts_with("--") && word.find('l') != std::string_view::npos) return true;
    }
  }
  return !is_first && !is_manager;
}

// Whether the process has a different root directory than this one; false if we may not look.
bool HasOtherRoot(const fs::path& directory) {
  struct stat its {};
  struct stat ours {};
  return ::stat((directory / "root/").c_str(), &its) == 0 && ::stat("/", &ours) == 0 &&
         (its.st_dev != ours.st_dev || its.st_ino != ours.st_ino);
}

// ---- one process

Explanation ExplainState(const fs::path& directory, const ProcessStatus& status,
                         const std::string& run_prefix, const std::string& library) {
  const auto mapped = ReadMaps(directory, run_prefix, library);
  if (!mapped) {
    return {status.has_other_ids ? Reach::kPrivileged : Reach::kUnreadable, {}, {}};
  }
  std::error_code error;
  const fs::path program = fs::read_symlink(directory / "exe", error);
  const auto because = [&](Reach reach, std::string detail = {}) {
    return Explanation{reach, std::move(detail), program};
  };
  if (status.seccomp == 1) return because(Reach::kSandboxStrict);
  if (!mapped->run_file.empty()) {
    if (IsAttached(mapped->run_file)) {
      return {Reach::kMeasuring, {}, program, mapped->run_file};
    }
    if (status.seccomp != 0) return because(Reach::kSandboxFilter);
  }
  if (!mapped->sanitizer.empty()) return because(Reach::kSanitizer, mapped->sanitizer);
  if (mapped->has_library) return because(Reach::kAble);
  // The link leads to the original file even if it has been replaced meanwhile.
  const auto file = ExplainProgramFile(directory / "exe");
  const Reach of_file = file ? file->reach : Reach::kAble;
  if (of_file == Reach::kOtherMachine) return because(of_file, file->untrusted_detail);
  if (IsSecureExecution(directory).value_or(status.has_other_ids)) {
    return because(Reach::kPrivileged);
  }
  if (of_file == Reach::kStatic || of_file == Reach::kOtherLibc || of_file == Reach::kSanitizer) {
    return because(of_file, file->untrusted_detail);
  }
  if (HasOtherRoot(directory)) return because(Reach::kOtherRoot);
  const auto environment = ReadFile(directory / "environ", kMaxEnvironmentBytes);
  if (!environment) return because(Reach::kUnreadable);
  const bool is_asked = AnyPreloaded(
      *environment, [&library](std::string_view entry) { return EndsWithName(entry, library); });
  return because(is_asked ? Reach::kNotLoaded : Reach::kNotAsked);
}

std::string RunPrefix(const SurveyOptions& options) {
  // The kernel reports files by their paths without symbolic links.
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(options.run_dir, error);
  return (error ? options.run_dir : resolved).string() + "/";
}

// Calls `visit` with the directory and status of each running process of the user.
template <typename Visit>
Status ForEachProcess(const SurveyOptions& options, const Visit& visit) {
  std::error_code error;
  fs::directory_iterator entries(options.proc, error);
  if (error) return ErrnoError("list", options.proc, error.value());
  std::vector<pid_t> pids;
  for (; entries != fs::directory_iterator() && pids.size() < kMaxProcesses;
       entries.increment(error)) {
    if (error) break;
    const auto number = ParseUint64(entries->path().filename().string());
    if (number && *number > 0 && *number <= INT32_MAX) pids.push_back(static_cast<pid_t>(*number));
  }
  std::sort(pids.begin(), pids.end());
  for (const pid_t pid : pids) {
    const fs::path directory = options.proc / std::to_string(pid);
    const auto status = ReadStatus(directory);
    if (status && status->has_memory && status->real_uid == options.uid) {
      visit(pid, directory, *status);
    }
  }
  return {};
}

}  // namespace

Result<ProcessReach> ExplainProcess(const SurveyOptions& options, pid_t pid) {
  const fs::path directory = options.proc / std::to_string(pid);
  const auto status = ReadStatus(directory);
  if (!status) return Fail(ErrorCode::kNotFound, "no process {}", pid);
  if (!status->has_memory) return Fail(ErrorCode::kNotFound, "process {} has ended", pid);
  if (status->real_uid != options.uid) {
    return ProcessReach{pid, status->name, {Reach::kUnreadable, "another user's", {}}};
  }
  return ProcessReach{pid, status->name,
                      ExplainState(directory, *status, RunPrefix(options), options.library)};
}

Result<std::vector<ProcessReach>> Survey(const SurveyOptions& options) {
  std::vector<ProcessReach> found;
  const std::string run_prefix = RunPrefix(options);
  FIELDCOST_TRY(ForEachProcess(
      options, [&](pid_t pid, const fs::path& directory, const ProcessStatus& status) {
        ProcessReach process{pid, status.name,
                             ExplainState(directory, status, run_prefix, options.library)};
        // The process ended meanwhile.
        if (process.why.reach == Reach::kUnreadable && !ReadStatus(directory)) return;
        found.push_back(std::move(process));
      }));
  return found;
}

Result<std::vector<ProcessReach>> LibraryHolders(const SurveyOptions& options,
                                                 const HolderQuery& query) {
  std::vector<ProcessReach> found;
  FIELDCOST_TRY(ForEachProcess(
      options, [&](pid_t pid, const fs::path& directory, const ProcessStatus& status) {
        const auto environment = ReadFile(directory / "environ", kMaxEnvironmentBytes);
        if (!environment) return;
        bool holds = AnyPreloaded(
            *environment, [&](std::string_view entry) { return entry == query.library.native(); });
        if (!holds && VariableIn(*environment, "HOME") == query.home.native()) {
          const auto start = ReadStartTicks(directory);
          const auto command_line = ReadFile(directory / "cmdline", kMaxCommandBytes);
          holds = start && *start < query.started_before_ticks && command_line &&
                  ReadsSessionFiles(*command_line);
        }
        if (holds) found.push_back({pid, status.name, {Reach::kAble, {}, {}}});
      }));
  return found;
}

}  // namespace fieldcost::reach

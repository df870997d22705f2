#include "tools/cli/session/login_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "agent/runs/boot_id.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/session/session_text.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLibraryBytes = 64 << 20;
constexpr std::size_t kMaxProfileBytes = 4 << 20;
constexpr std::size_t kMaxSmallFileBytes = 64 << 10;

bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// nullopt unless the path is a regular file or a link to one.
Result<std::optional<std::string>> ReadIfThere(const fs::path& path, std::size_t max_bytes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::optional<std::string>();
  FIELDCOST_ASSIGN(std::string text, ReadFile(path, max_bytes));
  return std::optional<std::string>(std::move(text));
}

// Creates missing directories and returns their number.
Result<unsigned> MakeParents(const fs::path& file) {
  unsigned made = 0;
  for (fs::path directory = file.parent_path();
       !IsThere(directory) && directory.has_relative_path(); directory = directory.parent_path()) {
    ++made;
  }
  FIELDCOST_TRY(MakeDirectories(file.parent_path(), 0700));
  return made;
}

// Replaces a user's file, keeping its mode; if it is a link, replaces the file it points to.
Status ReplaceUserFile(const fs::path& file, const std::string& text) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  if (error) return ErrnoError("follow", file, error.value());
  struct stat info {};
  if (::stat(target.c_str(), &info) != 0) return ErrnoError("inspect", target, errno);
  if (info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kPermissionDenied, "{} belongs to another user", target.string());
  }
  if (::access(target.c_str(), W_OK) != 0) return ErrnoError("write", target, errno);
  return WriteFileAtomically(target, text, static_cast<int>(info.st_mode & 07777));
}

// Whether ld.so could load the file: a shared library for this machine, not on a file system
// mounted noexec.
Status CheckLoadable(const fs::path& library) {
  FIELDCOST_ASSIGN(const reach::Explanation kind, reach::ExplainProgramFile(library));
  if (kind.reach != reach::Reach::kNotProgram || kind.untrusted_detail != reach::kSharedLibrary) {
    return Fail(ErrorCode::kInvalidArgument, "session: {} is not a shared library of this machine",
                library.string());
  }
  const UniqueFd fd(::open(library.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open", library, errno);
  void* const mapped = ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  if (mapped == MAP_FAILED) return ErrnoError("load", library, errno);
  ::munmap(mapped, 1);
  return {};
}

// In the unit of /proc/PID/stat. The next tick, so that everything running now started before it.
std::uint64_t NowInTicks() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * ticks_per_second +
         static_cast<std::uint64_t>(now.tv_nsec) * ticks_per_second / 1'000'000'000 + 1;
}

// sudo, for example, may keep HOME: root would then leave files there that the user cannot remove.
Status CheckOwnHome(const fs::path& home) {
  struct stat info {};
  if (::stat(home.c_str(), &info) != 0) return ErrnoError("inspect", home, errno);
  if (info.st_uid == ::geteuid()) return {};
  return Fail(ErrorCode::kPermissionDenied, "session: {} is another user's home directory",
              home.string());
}

// Keeps the first error.
void Note(const Status& status, Status& first) {
  if (!status && first) first = status;
}

}  // namespace

Result<Session> Session::FromEnvironment(const settings::AgentPaths& paths) {
  Session session;
  session.home_ = Variable("HOME");
  if (!session.home_.is_absolute()) {
    return Fail(ErrorCode::kInvalidArgument, "session: HOME is not an absolute path: {}",
                EscapeControl(session.home_.string()));
  }
  fs::path config = Variable("XDG_CONFIG_HOME");
  if (config.empty()) config = session.home_ / ".config";
  if (!config.is_absolute()) {
    return Fail(ErrorCode::kInvalidArgument, "session: XDG_CONFIG_HOME is not an absolute path: {}",
                EscapeControl(config.string()));
  }
  session.state_dir_ = paths.state_dir;
  session.library_ = paths.state_dir / "session" / reach::kPreloadLibraryName;
  session.end_file_ = paths.state_dir / "session" / "ended";
  session.environment_file_ = config / "environment.d" / "60-fieldcost.conf";
  session.snippet_ = paths.config_file.parent_path() / "session.sh";
  return session;
}

std::vector<fs::path> Session::ShellProfiles() const {
  std::vector<fs::path> profiles;
  for (const char* name : {".profile", ".bash_profile", ".bash_login", ".zprofile"}) {
    profiles.push_back(home_ / name);
  }
  return profiles;
}

Status Session::CopyLibrary(const fs::path& source, SessionReport& report) const {
  FIELDCOST_TRY(CheckLoadable(source));
  FIELDCOST_ASSIGN(const std::string bytes, ReadFile(source, kMaxLibraryBytes));
  FIELDCOST_TRY(MakeDirectories(library_.parent_path(), 0700));
  const auto present = ReadFile(library_, kMaxLibraryBytes);
  if (!present || *present != bytes) {
    FIELDCOST_TRY(WriteFileAtomically(library_, bytes, 0600));
    report.written.push_back(library_);
  }
  const Status loadable = CheckLoadable(library_);
  if (!loadable && !present) {
    ::unlink(library_.c_str());
    ::rmdir(library_.parent_path().c_str());
  }
  FIELDCOST_TRY(loadable);
  ::unlink(end_file_.c_str());
  return {};
}

Status Session::WriteOurs(const fs::path& file, bool is_snippet, const fs::path& library_source,
                          SessionReport& report) const {
  FIELDCOST_ASSIGN(const auto present, ReadIfThere(file, kMaxSmallFileBytes));
  SessionTextOptions options{.library = library_.string(),
                             .source = library_source.string(),
                             .state_dir = state_dir_.string()};
  if (present || IsThere(file)) {
    const auto made = present ? DirectoriesMade(*present) : std::nullopt;
    if (!made) {
      return Fail(ErrorCode::kAlreadyExists, "session: {} exists and was not written by fieldcost",
                  file.string());
    }
    options.directories_made = *made;
  } else {
    FIELDCOST_ASSIGN(options.directories_made, MakeParents(file));
  }
  const std::string text = is_snippet ? SnippetText(options) : EnvironmentFileText(options);
  if (present && *present == text) return {};
  FIELDCOST_TRY(WriteFileAtomically(file, text, 0600));
  report.written.push_back(file);
  return {};
}

Status Session::RemoveOurs(const fs::path& file, SessionReport& report) const {
  FIELDCOST_ASSIGN(const auto present, ReadIfThere(file, kMaxSmallFileBytes));
  if (!present) return {};
  const auto made = DirectoriesMade(*present);
  if (!made) return {};  // not written by us
  if (::unlink(file.c_str()) != 0) return ErrnoError("remove", file, errno);
  report.removed.push_back(file);
  fs::path directory = file.parent_path();
  for (unsigned i = 0; i < *made && ::rmdir(directory.c_str()) == 0; ++i) {
    directory = directory.parent_path();
  }
  return {};
}

Status Session::AddLine(const fs::path& profile, bool may_make, SessionReport& report) const {
  FIELDCOST_ASSIGN(auto present, ReadIfThere(profile, kMaxProfileBytes));
  if (!present && !may_make) return {};
  if (!present && IsThere(profile)) {
    return Fail(ErrorCode::kInvalidArgument, "session: {} is not a file", profile.string());
  }
  if (present && HasSessionLine(*present, snippet_.string())) return {};
  if (present) {
    const std::optional<std::string> without = RemoveSessionLine(*present);  // another profile's
    FIELDCOST_TRY(ReplaceUserFile(profile, AddSessionLine(without, snippet_.string())));
  } else {
    FIELDCOST_TRY(
        WriteFileAtomically(profile, AddSessionLine(std::nullopt, snippet_.string()), 0644));
  }
  (present ? report.lines_added : report.written).push_back(profile);
  return {};
}

Status Session::RemoveLine(const fs::path& profile, SessionReport& report) const {
  FIELDCOST_ASSIGN(const auto present, ReadIfThere(profile, kMaxProfileBytes));
  if (!present || !HasSessionLine(*present)) return {};
  const std::optional<std::string> without = RemoveSessionLine(*present);
  if (without) {
    FIELDCOST_TRY(ReplaceUserFile(profile, *without));
  } else if (::unlink(profile.c_str()) != 0) {
    return ErrnoError("remove", profile, errno);
  }
  (without ? report.lines_removed : report.removed).push_back(profile);
  return {};
}

// Sessions that began while active still pass on the library's name.
Status Session::RemoveLibrary(bool is_ending_now, SessionReport& report) const {
  if (!IsThere(library_)) return {};
  std::uint64_t ended_ticks = NowInTicks();
  const auto end = ReadFile(end_file_, kMaxSmallFileBytes);
  const std::string boot_id = runs::BootId();
  if (end && !is_ending_now) {
    // After a reboot no process remains that names the library.
    const bool is_same_boot = end->starts_with(boot_id + " ") && end->ends_with('\n');
    const std::string_view ticks =
        is_same_boot ? std::string_view(*end).substr(boot_id.size() + 1) : std::string_view("0\n");
    ended_ticks = ParseUint64(ticks.substr(0, ticks.size() - 1)).value_or(ended_ticks);
  } else {
    FIELDCOST_TRY(
        WriteFileAtomically(end_file_, fmt::format("{} {}\n", boot_id, ended_ticks), 0600));
  }
  FIELDCOST_ASSIGN(report.holders,
                   reach::LibraryHolders(
                       {.uid = ::getuid()},
                       {.library = library_, .home = home_, .started_before_ticks = ended_ticks}));
  if (!report.holders.empty()) return {};
  if (::unlink(library_.c_str()) != 0) return ErrnoError("remove", library_, errno);
  ::unlink(end_file_.c_str());
  ::rmdir(library_.parent_path().c_str());
  report.removed.push_back(library_);
  return {};
}

Status Session::LookAround(SessionReport& report) const {
  report.library_present = IsThere(library_);
  std::vector<fs::path> absent;
  for (const fs::path& file : {snippet_, environment_file_}) {
    FIELDCOST_ASSIGN(const auto text, ReadIfThere(file, kMaxSmallFileBytes));
    (text && DirectoriesMade(*text) ? report.files : absent).push_back(file);
  }
  for (const fs::path& profile : ShellProfiles()) {
    FIELDCOST_ASSIGN(const auto text, ReadIfThere(profile, kMaxProfileBytes));
    const bool has_line = text && HasSessionLine(*text);
    if (has_line) report.files.push_back(profile);
    if (!has_line && (text || profile.filename() == ".profile")) absent.push_back(profile);
  }
  report.active = !report.files.empty();
  if (!report.active) return {};
  report.missing = std::move(absent);
  (report.library_present ? report.files : report.missing).push_back(library_);
  return {};
}

Status Session::WriteAll(const fs::path& library_source, SessionReport& report) const {
  FIELDCOST_TRY(CopyLibrary(library_source, report));
  FIELDCOST_TRY(WriteOurs(snippet_, true, library_source, report));
  FIELDCOST_TRY(WriteOurs(environment_file_, false, library_source, report));
  for (const fs::path& profile : ShellProfiles()) {
    FIELDCOST_TRY(AddLine(profile, profile.filename() == ".profile", report));
  }
  return {};
}

Result<SessionReport> Session::On(const fs::path& library_source) const {
  for (const fs::path& path : {library_, snippet_, state_dir_, library_source}) {
    FIELDCOST_TRY(CheckSessionPath(path.string()));
  }
  FIELDCOST_TRY(CheckOwnHome(home_));
  FIELDCOST_ASSIGN(const SessionReport before, Look());
  SessionReport report;
  const Status written = WriteAll(library_source, report);
  if (!written && !before.active) static_cast<void>(Off());
  FIELDCOST_TRY(written);
  FIELDCOST_TRY(LookAround(report));
  return report;
}

Result<SessionReport> Session::Off() const {
  SessionReport report;
  Status first;
  for (const fs::path& profile : ShellProfiles()) Note(RemoveLine(profile, report), first);
  Status ours = RemoveOurs(environment_file_, report);
  Note(RemoveOurs(snippet_, report), ours);
  const bool is_ending_now = !report.removed.empty() || !report.lines_removed.empty();
  // A line that could not be removed has no effect without the snippet.
  if (ours) ours = RemoveLibrary(is_ending_now, report);
  Note(ours, first);
  FIELDCOST_TRY(first);
  FIELDCOST_TRY(LookAround(report));
  return report;
}

Result<SessionReport> Session::Look() const {
  SessionReport report;
  FIELDCOST_TRY(LookAround(report));
  return report;
}

Result<bool> Session::IsCopyOf(const fs::path& library_source) const {
  FIELDCOST_ASSIGN(const std::string copy, ReadFile(library_, kMaxLibraryBytes));
  FIELDCOST_ASSIGN(const std::string source, ReadFile(library_source, kMaxLibraryBytes));
  return copy == source;
}

Result<SessionReport> Session::GetStatus() const {
  FIELDCOST_ASSIGN(SessionReport report, Look());
  if (report.active || !report.library_present) return report;
  FIELDCOST_TRY(RemoveLibrary(false, report));
  report.library_present = IsThere(library_);
  return report;
}

}  // namespace fieldcost::cli

#include "common/base/run_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/child_process.h"

namespace fieldcost {
namespace {

// Keeps 0 to 2 free for a child's standard descriptors.
constexpr int kFirstDescriptor = 3;

// How long a writer without data may take to close its end.
constexpr int kGraceMs = 200;

// Whether there is no data left to read and no writer that could send more.
bool IsAtEnd(int fd, bool is_socket) {
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  if (::poll(&polled, 1, kGraceMs) != 1) return false;
  if (!is_socket) return (polled.revents & (POLLIN | POLLHUP)) == POLLHUP;
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace

Result<RunInput> RunInput::Open(const Options& options) {
  RunInput input;
  input.fixed_ = kOurs;
  if (!options.file.empty()) {
    // A FIFO without a writer must not block here.
    UniqueFd file(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid()) return ErrnoError("open the input", options.file, errno);
    FIELDCOST_TRY(input.Use(std::move(file), options.file.string(), options));
    return input;
  }
  if (options.runs <= 1) return input;
  UniqueFd ours(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor));
  if (!ours.valid()) {
    if (errno != EBADF) return ErrnoError("keep", "standard input", errno);
    input.fixed_ = kNowhere;  // standard input is closed
    return input;
  }
  FIELDCOST_TRY(input.Use(std::move(ours), "standard input", options));
  return input;
}

Status RunInput::Use(UniqueFd source, std::string_view name, const Options& options) {
  struct stat facts {};
  if (::fstat(source.get(), &facts) != 0) return ErrnoError("examine", name, errno);
  const bool is_file = !options.file.empty();
  if (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode)) {
    const off_t offset = ::lseek(source.get(), 0, SEEK_CUR);
    if (offset < 0) return ErrnoError("find the position in", name, errno);
    offset_ = offset;
    has_offset_ = true;
    source_ = std::move(source);
    return {};
  }
  if (S_ISDIR(facts.st_mode) && is_file) return ErrnoError("read the input", name, EISDIR);
  if (::isatty(source.get()) == 1 && !is_file) {
    const bool is_empty = options.terminal == Terminal::kEmpty;
    if (is_empty) fixed_ = kNowhere;
    note_ =
        is_empty
            ? "the runs get no input: standard input is a terminal; --input FILE gives them a file"
            : "each run reads the terminal again; --input FILE gives all runs the same input";
    return {};
  }
  if (S_ISCHR(facts.st_mode)) {  // /dev/null, /dev/zero: each run reads the same
    if (is_file) source_ = std::move(source);
    return {};
  }
  const bool is_stream = S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode);
  if (!is_stream) return {};
  if (options.runs <= 1) {
    // A writer may open it later.
    source_ = std::move(source);
    return {};
  }
  if (!is_file && IsAtEnd(source.get(), S_ISSOCK(facts.st_mode))) {
    fixed_ = kNowhere;
    return {};
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      "the command is run several times, and {} is a {}, which can be read only once: save it "
      "to a file and use --input FILE (--input /dev/null if the command reads nothing)",
      name, S_ISFIFO(facts.st_mode) ? "pipe" : "socket");
}

Result<int> RunInput::Next() {
  if (!source_.valid()) return fixed_;
  // Opens it again, since runs would otherwise share one offset.
  const std::string path = fmt::format("/proc/self/fd/{}", source_.get());
  const int mode = ::fcntl(source_.get(), F_GETFL) & (O_ACCMODE | O_APPEND);
  current_ = UniqueFd(::open(path.c_str(), mode | O_CLOEXEC));
  if (!current_.valid()) {
    Error error = ErrnoError("open", "the command's input again", errno);
    if (error.code == ErrorCode::kUnavailable) return error;
    // We may have inherited a file that we are not permitted to open. Share the descriptor and
    // reset its offset.
    current_ = UniqueFd(::fcntl(source_.get(), F_DUPFD_CLOEXEC, kFirstDescriptor));
    if (!current_.valid()) return error;
  }
  if (has_offset_ && ::lseek(current_.get(), offset_, SEEK_SET) < 0) {
    return ErrnoError("set the position in", "the command's input", errno);
  }
  return current_.get();
}

}  // namespace fieldcost

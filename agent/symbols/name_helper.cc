#include "agent/symbols/name_helper.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "agent/symbols/function_names.h"
#include "agent/symbols/name_messages.h"
#include "agent/symbols/name_server.h"
#include "common/base/child_process.h"
#include "common/base/file.h"

namespace fieldcost::symbols {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kAnswerMs = 60'000;  // one look-up in the largest debug files takes a second
constexpr std::size_t kMostRestarts = 1'000;
constexpr std::uint64_t kMostFunctions = 1 << 22;

bool g_in_helpers = false;

// Makes only calls that are safe between fork() and exec().
[[noreturn]] void BecomeHelper(int socket, std::optional<uid_t> user) {
  constexpr int kCannotStart = 126;
  if (::dup2(socket, kNameSocket) < 0) ::_exit(kCannotStart);
  if (socket == kNameSocket) ::fcntl(kNameSocket, F_SETFD, 0);
  ::syscall(SYS_close_range, kNameSocket + 1, ~0U, 0);
  if (user && *user != 0 &&
      (::setgroups(0, nullptr) != 0 || ::setresgid(*user, *user, *user) != 0 ||
       ::setresuid(*user, *user, *user) != 0)) {
    ::_exit(kCannotStart);
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // Signals from the terminal end a recording, whose names are looked up after that.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char name[] = "fieldcost-names";
  char serve[sizeof kServeNames];
  std::copy(std::begin(kServeNames), std::end(kServeNames), serve);
  char* const arguments[] = {name, serve, nullptr};
  char* const environment[] = {nullptr};
  ::execve("/proc/self/exe", arguments, environment);
  ::_exit(kCannotStart);
}

// One helper, started at the first request.
class Helper {
 public:
  explicit Helper(std::optional<uid_t> user) : user_(user) {}

  // Changes when the helper ends: the next one knows no module.
  std::size_t generation() const { return generation_; }

  // Returns the answer without its first number. Any failure ends the helper.
  Result<std::string> Ask(std::string_view request, int fd) {
    if (pid_ < 0) FIELDCOST_TRY(Start());
    const Status sent = SendMessage(socket_.get(), request, fd);
    Result<Message> answer =
        sent ? ReceiveMessage(socket_.get(), kAnswerMs) : Result<Message>(sent.error());
    if (!answer) {
      End();
      return answer.error();
    }
    MessageReader reader(answer->bytes);
    if (reader.Number() == 1 && reader.ok()) return answer->bytes.substr(sizeof(std::uint64_t));
    const std::uint64_t untrusted_code = reader.Number();
    const std::string untrusted_text = reader.Text(kMostNameBytes);
    if (!reader.IsAtEnd() || untrusted_code < 1 ||
        untrusted_code > static_cast<std::uint64_t>(ErrorCode::kInternal)) {
      return Nonsense();
    }
    return Error{static_cast<ErrorCode>(untrusted_code), untrusted_text};
  }

  Error Nonsense() {
    End();
    return Fail(ErrorCode::kCorrupt, "the process that reads names sent an invalid answer");
  }

 private:
  Status Start() {
    if (generation_ >= kMostRestarts) {
      return Fail(ErrorCode::kUnavailable, "the process that reads names ended {} times",
                  kMostRestarts);
    }
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return ErrnoError("make", "a pair of sockets", errno);
    }
    UniqueFd ours(ends[0]);
    const UniqueFd its(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return ErrnoError("start", "a process that reads names", errno);
    if (child == 0) BecomeHelper(its.get(), user_);
    pid_ = child;
    socket_ = std::move(ours);
    return {};
  }

  void End() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    Reap(pid_);
    pid_ = -1;
    ++generation_;
    socket_.Reset();
  }

  std::optional<uid_t> user_;  // nullopt: ours
  pid_t pid_ = -1;
  UniqueFd socket_;
  std::size_t generation_ = 0;
};

// Helpers by the user that they run as. Never destroyed: they end with this process.
Helper& HelperFor(std::optional<uid_t> user) {
  static auto& helpers = *new std::map<std::optional<uid_t>, Helper>;
  return helpers.try_emplace(user, user).first->second;
}

struct OpenFile {
  UniqueFd fd;
  std::optional<uid_t> reader;  // the user with whose rights the file must be read
};

Result<OpenFile> OpenToPass(const std::filesystem::path& path) {
  OpenFile file{.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))};
  if (!file.fd.valid()) return ErrnoError("open", path, errno);
  struct stat info {};
  if (::fstat(file.fd.get(), &info) != 0) return ErrnoError("inspect", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kCorrupt, "{}: not a regular file", path.string());
  }
  if (::geteuid() != 0) return file;
  const bool is_roots_own = info.st_uid == 0 && (info.st_mode & (S_IROTH | S_IWOTH)) == 0;
  file.reader = info.st_uid != 0 ? info.st_uid : is_roots_own ? 0 : kNobody;
  return file;
}

// A module whose file is read by a helper.
class RemoteModule : public DwarfModule {
 public:
  explicit RemoteModule(Options options) : options_(std::move(options)) {}

  Status Begin() {
    FIELDCOST_ASSIGN(const OpenFile file, OpenToPass(options_.path));
    helper_ = &HelperFor(file.reader);
    static std::uint64_t last_key = 0;
    key_ = ++last_key;
    MessageWriter request;
    request.Number(static_cast<std::uint64_t>(NameRequest::kOpen)).Number(key_);
    request.Text(options_.build_id).Number(options_.debug_directories.size());
    for (const auto& directory : options_.debug_directories) request.Text(directory.string());
    FIELDCOST_ASSIGN(const std::string answer, helper_->Ask(request.bytes(), file.fd.get()));
    MessageReader reader(answer);
    soname_ = reader.Text(kMostNameBytes);
    build_id_ = reader.Text(kMostNameBytes);
    if (!reader.IsAtEnd()) return helper_->Nonsense();
    generation_ = helper_->generation();
    return {};
  }

  std::vector<SourceFrame> FramesAt(std::uint64_t address) override {
    if (is_broken_) return {};
    // The helper ended because of another file: reopens this one, if it still exists.
    if (generation_ != helper_->generation() && !Begin()) {
      is_broken_ = true;
      return {};
    }
    MessageWriter request;
    request.Number(static_cast<std::uint64_t>(NameRequest::kFrames)).Number(key_).Number(address);
    const auto answer = helper_->Ask(request.bytes(), -1);
    if (!answer) {
      is_broken_ = true;
      return {};
    }
    if (auto frames = FramesIn(*answer)) return *std::move(frames);
    is_broken_ = true;
    static_cast<void>(helper_->Nonsense());
    return {};
  }

  const std::string& soname() const override { return soname_; }
  const std::string& build_id() const override { return build_id_; }

 private:
  Options options_;
  Helper* helper_ = nullptr;
  std::uint64_t key_ = 0;
  std::size_t generation_ = 0;
  bool is_broken_ = false;
  std::string soname_;
  std::string build_id_;
};

}  // namespace

std::optional<int> ServeNamesIfAsked(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != kServeNames) return std::nullopt;
  return ServeNames(kNameSocket);
}

void ReadNamesInHelpers() { g_in_helpers = true; }

Result<std::unique_ptr<DwarfModule>> OpenModule(DwarfModule::Options options) {
  if (!g_in_helpers) return DwarfModule::Open(std::move(options));
  auto module = std::make_unique<RemoteModule>(std::move(options));
  FIELDCOST_TRY(module->Begin());
  return std::unique_ptr<DwarfModule>(std::move(module));
}

Result<std::vector<std::string>> NamesOfFunctions(const std::filesystem::path& path) {
  if (!g_in_helpers) return FunctionNames(path);
  FIELDCOST_ASSIGN(const OpenFile file, OpenToPass(path));
  MessageWriter request;
  request.Number(static_cast<std::uint64_t>(NameRequest::kFunctions));
  Helper& helper = HelperFor(file.reader);
  FIELDCOST_ASSIGN(const std::string answer, helper.Ask(request.bytes(), file.fd.get()));
  MessageReader reader(answer);
  const std::uint64_t count = reader.Number();
  std::vector<std::string> names;
  for (std::uint64_t i = 0; reader.ok() && i < count && i < kMostFunctions; ++i) {
    names.push_back(reader.Text(kMostNameBytes));
  }
  if (!reader.IsAtEnd() || names.size() != count) return helper.Nonsense();
  return names;
}

}  // namespace fieldcost::symbols

#include "agent/symbols/name_server.h"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/symbols/dwarf_module.h"
#include "agent/symbols/function_names.h"
#include "agent/symbols/name_messages.h"
#include "agent/symbols/x86_64/symbols_machine.h"

namespace fieldcost::symbols {
namespace {

// Calls that a compromised process could use to affect others: they fail with EPERM.
constexpr std::uint32_t kRefused[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_sendto,
    SYS_execve,
    SYS_execveat,
    SYS_clone,
    SYS_clone3,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_io_uring_setup,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_mkdirat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_truncate,
    SYS_ftruncate,
    SYS_prlimit64,
    SYS_setrlimit,
};

// Installs a filter that refuses these calls, and kills the process at calls of other ABIs than
// the machine's (on x86-64: 32 bits, x32).
bool ForbidTheRest() {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAuditArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstCallOfOtherAbi, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const auto refuse = [&program](std::uint32_t call) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  };
  for (const std::uint32_t call : kRefused) refuse(call);
  for (const std::uint32_t call : kOlderCallsThatAffectOthers) refuse(call);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void LimitItself() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

std::string OpenPathOf(const UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

MessageWriter Failed(const Error& error) {
  MessageWriter answer;
  answer.Number(0).Number(static_cast<std::uint64_t>(error.code)).Text(error.message);
  return answer;
}

class Server {
 public:
  MessageWriter Answer(const Message& message) {
    MessageReader request(message.bytes);
    switch (static_cast<NameRequest>(request.Number())) {
      case NameRequest::kOpen:
        return Open(request, message.fd);
      case NameRequest::kFrames:
        return Frames(request);
      case NameRequest::kFunctions:
        return Functions(message.fd);
    }
    return Failed(Fail(ErrorCode::kInvalidArgument, "no such request"));
  }

 private:
  MessageWriter Open(MessageReader& request, const UniqueFd& fd) {
    const std::uint64_t key = request.Number();
    DwarfModule::Options options{.path = OpenPathOf(fd), .build_id = request.Text(kMostNameBytes)};
    options.debug_directories.clear();
    for (std::uint64_t left = request.Number(); request.ok() && left > 0; --left) {
      options.debug_directories.emplace_back(request.Text(kMostNameBytes));
    }
    auto module = DwarfModule::Open(std::move(options));
    if (!module) return Failed(module.error());
    MessageWriter answer;
    answer.Number(1).Text((*module)->soname()).Text((*module)->build_id());
    modules_[key] = *std::move(module);
    return answer;
  }

  MessageWriter Frames(MessageReader& request) {
    const auto found = modules_.find(request.Number());
    if (found == modules_.end()) return Failed(Fail(ErrorCode::kNotFound, "no such module"));
    const std::vector<SourceFrame> frames = found->second->FramesAt(request.Number());
    MessageWriter answer;
    answer.Number(1).Number(frames.size());
    for (const SourceFrame& frame : frames) {
      answer.Text(std::string_view(frame.function).substr(0, kMostNameBytes));
      answer.Text(std::string_view(frame.file).substr(0, kMostNameBytes));
      answer.Number(frame.line).Number(frame.local ? 1 : 0).Number(frame.inlined ? 1 : 0);
    }
    return answer;
  }

  static MessageWriter Functions(const UniqueFd& fd) {
    const auto names = FunctionNames(OpenPathOf(fd));
    if (!names) return Failed(names.error());
    MessageWriter answer;
    std::uint64_t count = 0;
    MessageWriter texts;
    for (const std::string& name : *names) {
      if (name.size() > kMostNameBytes || texts.bytes().size() > kMostMessageBytes / 2) continue;
      texts.Text(name);
      ++count;
    }
    answer.Number(1).Number(count);
    answer.Append(texts);
    return answer;
  }

  std::map<std::uint64_t, std::unique_ptr<DwarfModule>> modules_;
};

}  // namespace

int ServeNames(int socket) {
  constexpr int kRefusedByKernel = 71;
  LimitItself();
  // A helper that hangs must end with its recorder as well.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !ForbidTheRest()) return kRefusedByKernel;
  Server server;
  for (;;) {
    const Result<Message> request = ReceiveMessage(socket, -1);
    if (!request) return 0;
    if (!SendMessage(socket, server.Answer(*request).bytes(), -1)) return 0;
  }
}

}  // namespace fieldcost::symbols

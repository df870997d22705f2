#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/daemon/agent.h"
#include "common/base/file.h"
#include "common/wire/limits.h"
#include "tools/cli/commands.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxTokenFileBytes = wire::kMaxTokenBytes + 64;  // and spaces around it

Result<std::string> ReadStdin() {
  std::string text;
  std::array<char, 512> chunk{};
  while (text.size() <= kMaxTokenFileBytes) {
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got == 0) return text;
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) return ErrnoError("read", "standard input", errno);
  }
  return Fail(ErrorCode::kTooLarge, "standard input is longer than a token");
}

}  // namespace

Result<int> Run(const AgentEnrolCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const std::string token, command.token_file == "-"
                                                ? ReadStdin()
                                                : ReadFile(command.token_file, kMaxTokenFileBytes));
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent.SetEnrolmentToken(token));
  FIELDCOST_TRY(WriteStdout(
      output.json ? "{\"token_kept\":true}\n"
                  : "the token is kept; the agent shows it when the service next asks for one\n"));
  return 0;
}

}  // namespace fieldcost::cli

// `fieldcost agent enrol`: stores the token of a service that requires one.
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/base/json_writer.h"
#include "common/wire/wire_limits.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct EnrolRequest {
  std::string token_file;  // "-" = stdin
};

constexpr std::size_t kMaxTokenFileBytes = wire::kMaxTokenBytes + 64;  // with surrounding space

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

Result<int> RunEnrol(const EnrolRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const std::string token, command.token_file == "-"
                                                ? ReadStdin()
                                                : ReadFile(command.token_file, kMaxTokenFileBytes));
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent.SetEnrolmentToken(token));
  FIELDCOST_TRY(WriteStdout(
      output.json ? JsonWriter().Object().Member("token_kept", true).EndObject().Take()
                  : "token stored; the agent presents it when the service next asks for it\n"));
  return 0;
}

}  // namespace

command::Command AgentEnrolCommand() {
  return {
      .name = "enrol",
      .summary = "Store the token a service requires",
      .help =
          R"(For services that accept only invited agents. Never pass the token as an argument: other users could
see it. Examples:
  fieldcost agent enrol --token-file token.txt
  pass show fieldcost | fieldcost agent enrol --token-file -)",
      .options = {{.names = "--token-file",
                   .value = "FILE",
                   .help = "File containing the token; - = stdin",
                   .completes = command::Completes::kFiles,
                   .required = true}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunEnrol({.token_file = arguments.Text("--token-file")}, OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli

// fieldcost-aggregator: the service, and the commands of its operator.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/operate_program.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/service/serve_aggregator.h"
#include "aggregator/service/service_start_check.h"
#include "common/base/text.h"

namespace {

using fieldcost::Result;
namespace command = fieldcost::command;

// glibc gives allocating threads up to 8 arenas per core, and each arena retains what was freed in
// it: COSTS.md, "Memory", has measurements.
constexpr int kMallocArenas = 2;

void LimitArenas() {
  if (std::getenv("MALLOC_ARENA_MAX") == nullptr) ::mallopt(M_ARENA_MAX, kMallocArenas);
}

Result<int> Serve(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const auto config, fieldcost::aggregator::ConfigOf(arguments));
  FIELDCOST_TRY(fieldcost::aggregator::Serve(config));
  return 0;
}

Result<std::string> CheckConfig(const fieldcost::aggregator::Config& config) {
  FIELDCOST_ASSIGN(const auto found, fieldcost::aggregator::CheckStart(
                                         config, fieldcost::aggregator::Listening::kMayServe));
  std::string text;
  for (const std::string& fact : found.facts) {
    text += fieldcost::EscapeControl(fact) + '\n';
  }
  for (const std::string& warning : found.warnings) {
    text += "warning: " + fieldcost::EscapeControl(warning) + '\n';
  }
  if (::geteuid() == 0) {
    text += "note: checked as root, whose permissions exceed those of the service's own user\n";
  }
  return text;
}

command::Command ServeCommand() {
  return {.name = "serve",
          .summary = "Accept batches and publish until SIGTERM (the default)",
          .help = R"(Examples:
  fieldcost-aggregator --config /etc/fieldcost/aggregator.toml
  fieldcost-aggregator serve --config aggregator.toml --check-config)",
          .handler = Serve,
          .without = {"--json"}};
}

int Main(std::vector<std::string> arguments) {
  const command::Command program = fieldcost::aggregator::Program(ServeCommand());
  const auto parsed = command::Parse(program, FIELDCOST_VERSION, std::move(arguments));
  if (const auto* answer = std::get_if<command::Answer>(&parsed)) {
    fmt::print("{}", answer->output);
    if (!answer->errors.empty()) {
      fieldcost::aggregator::PrintLines(
          fmt::format("{}: {}\n", program.name, fieldcost::EscapeControl(answer->errors)), stderr);
    }
    return answer->exit_status;
  }
  const Result<int> status =
      fieldcost::aggregator::Run(std::get<command::Call>(parsed), CheckConfig);
  if (status) return *status;
  fieldcost::aggregator::PrintLines(fmt::format("{}: {}\n", program.name, status.error().message),
                                    stderr);
  return fieldcost::ExitStatus(status.error().code);
}

}  // namespace

int main(int argument_count, char** arguments) {
  LimitArenas();
  const int status = Main(std::vector<std::string>(arguments + 1, arguments + argument_count));
  std::fflush(nullptr);
  // Skips the libraries' static destructors: after a failed write the engine is still open.
  ::_exit(status);
}

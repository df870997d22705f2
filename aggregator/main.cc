// fieldcost-aggregator: see kHelpText in help_text.cc.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "aggregator/config/config.h"
#include "aggregator/operate/command_line.h"
#include "aggregator/operate/demo_command.h"
#include "aggregator/operate/operate.h"
#include "aggregator/service/serve.h"

namespace {

using fieldcost::aggregator::Command;

// glibc gives 8 arenas a core to the threads that allocate, and each keeps what was freed in it:
// README.md, "Memory", has what that came to.
constexpr int kMallocArenas = 2;

void LimitArenas() {
  if (std::getenv("MALLOC_ARENA_MAX") == nullptr) ::mallopt(M_ARENA_MAX, kMallocArenas);
}

int End(const fieldcost::Error& error) {
  fmt::print(stderr, "fieldcost-aggregator: {}\n", error.message);
  return fieldcost::ExitStatus(error.code);
}

int Run(const fieldcost::aggregator::CommandLine& line,
        const fieldcost::aggregator::Config& config) {
  if (line.command == Command::kServe) {
    const fieldcost::Status status = fieldcost::aggregator::Serve(config);
    return status ? 0 : End(status.error());
  }
  const auto good = fieldcost::aggregator::Operate(line, config, fieldcost::SystemClock());
  if (!good) return End(good.error());
  return *good ? 0 : 1;
}

int Main(std::span<const char* const> arguments) {
  const auto line = fieldcost::aggregator::ParseCommandLine(arguments);
  if (!line) return End(line.error());
  if (line->command == Command::kHelp) {
    fmt::print("{}", fieldcost::aggregator::kHelpText);
    return 0;
  }
  if (line->command == Command::kVersion) {
    fmt::print("fieldcost-aggregator {}\n", FIELDCOST_VERSION);
    return 0;
  }
  if (line->command == Command::kDemo) {
    const auto status = fieldcost::aggregator::RunDemo(*line, fieldcost::SystemClock());
    return status ? 0 : End(status.error());
  }
  const auto config = fieldcost::aggregator::LoadConfig(line->config_file);
  if (!config) return End(config.error());
  if (line->command == Command::kCheckConfig) {
    fmt::print("{}: good\n", line->config_file.string());
    return 0;
  }
  return Run(*line, *config);
}

}  // namespace

int main(int argument_count, char** arguments) {
  LimitArenas();
  const int status = Main({arguments + 1, static_cast<std::size_t>(argument_count - 1)});
  std::fflush(nullptr);
  // Without the libraries' static destructors: after a failed write the engine is still open.
  ::_exit(status);
}

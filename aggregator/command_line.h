#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::aggregator {

enum class Command { kServe, kVerify, kCheckConfig, kHelp, kVersion };

struct CommandLine {
  Command command = Command::kServe;
  std::filesystem::path config_file;  // given unless help or version is asked for
};

// Arguments without the program's name. kInvalidArgument says what is wrong with which.
Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments);

extern const std::string_view kHelpText;

}  // namespace fieldcost::aggregator

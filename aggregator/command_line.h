#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::aggregator {

enum class Command {
  kServe,
  kVerify,
  kPolicySign,
  kPolicyShow,
  kRevoke,
  kCheckConfig,
  kHelp,
  kVersion,
};

struct CommandLine {
  Command command = Command::kServe;
  std::filesystem::path config_file;  // given unless help or version is asked for
  std::filesystem::path policy_file;  // kPolicySign
  std::string agent;                  // kRevoke: 64 hex digits, not checked yet
  bool json = false;                  // kPolicySign, kPolicyShow
};

// Arguments without the program's name. kInvalidArgument says what is wrong with which.
Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments);

extern const std::string_view kHelpText;

}  // namespace fieldcost::aggregator

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::aggregator {

enum class Command {
  kServe,
  kVerify,
  kRecover,
  kPolicySign,
  kPolicyShow,
  kRevoke,
  kBackup,
  kRestore,
  kCompact,
  kExpire,
  kPublish,
  kKeysShow,
  kKeysRotate,
  kKeysAddPolicy,
  kKeysRenew,
  kKeysExportOffline,
  kDemo,
  kCheckConfig,
  kHelp,
  kVersion,
};

struct CommandLine {
  Command command = Command::kServe;
  std::filesystem::path config_file;  // given but for help, version and kDemo
  std::filesystem::path policy_file;  // kPolicySign
  std::string agent;                  // kRevoke: a name of the log or a public key, not checked yet
  bool withdraw = false;              // kRevoke
  bool dry_run = false;               // kRevoke
  bool drop_damaged = false;          // kRecover
  std::uint32_t before_week = 0;      // kExpire
  bool yes = false;                   // kExpire
  std::filesystem::path directory;    // kBackup, kRestore, kDemo, kKeysExportOffline
  std::filesystem::path offline_dir;  // kPolicySign and those that take root_key_files
  bool without_signing_keys = false;  // kBackup
  std::string role;                   // kKeysRotate, kKeysExportOffline, not checked yet
  std::vector<std::filesystem::path> root_key_files;  // kKeysRotate, kKeysAddPolicy, kKeysRenew
  unsigned root_keys = 1;                             // kKeysRotate
  unsigned root_threshold = 1;
  std::optional<std::uint64_t> seed;  // kDemo, and those below; not checked yet
  std::optional<std::uint64_t> agents;
  std::optional<std::uint64_t> last_week;
  std::filesystem::path profile_file;
  bool json = false;  // not kServe, kCheckConfig
};

// Arguments without the program's name. kInvalidArgument says what is wrong with which.
Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments);

extern const std::string_view kHelpText;

}  // namespace fieldcost::aggregator

#pragma once

#include "aggregator/config/aggregator_config.h"
#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::aggregator {

// The operator's commands, one file each in commands/; each value is the complete definition. All
// except `restore` and `recover` also work while a server is running.
command::Command VerifyCommand();
command::Command VerifyTreeCommand();
command::Command RecoverCommand();
command::Command PublishCommand();
command::Command CompactCommand();
command::Command ExpireCommand();
command::Command RevokeCommand();
command::Command BackupCommand();
command::Command RestoreCommand();
command::Command PolicyCommand();
command::Command KeysCommand();
command::Command DemoCommand();
command::Command InitCommand();
command::Command InvitationCommand();
command::Command BenchCommand();

// The configuration given by --config; kInvalidArgument: --config is missing.
Result<Config> ConfigOf(const command::Arguments& arguments);

}  // namespace fieldcost::aggregator

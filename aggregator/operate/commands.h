#pragma once

#include "aggregator/config/config.h"
#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::aggregator {

// The commands of an operator, one file each in commands/: all that is known of it is in the value.
// Each but `restore` and `recover` also works beside a running server.
command::Command VerifyCommand();
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

// The configuration that --config names; kInvalidArgument: none is named.
Result<Config> ConfigOf(const command::Arguments& arguments);

}  // namespace fieldcost::aggregator

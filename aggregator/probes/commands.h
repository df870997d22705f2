#pragma once

#include "aggregator/probes/config.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::probe_server {

// The commands, each in a file of commands/; program.cc has all of them as one program.
command::Command AuditCommand();
command::Command BackupCommand();
command::Command DeviceCommand();
command::Command ExpireCommand();
command::Command InitCommand();
command::Command RecoverCommand();
command::Command RestoreCommand();
command::Command ServeCommand();
command::Command UserCommand();
command::Command VerifyCommand();
command::Command Program();

// The configuration that --config names; kInvalidArgument: none is named.
Result<Config> ConfigOf(const command::Arguments& arguments);

}  // namespace fieldcost::probe_server

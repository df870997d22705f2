#pragma once

#include "aggregator/probe_server/probe_server_config.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::probe_server {

// The commands, one file each in commands/; probe_server_program.cc combines them.
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

// Loads the configuration given by --config; kInvalidArgument: the option is missing.
Result<Config> ConfigOf(const command::Arguments& arguments);

}  // namespace fieldcost::probe_server

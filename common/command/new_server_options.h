#pragma once

#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// The options of a server's `init`, which creates a directory with everything that it needs:
// --dir, --host, --certificate, --key, --address, --port and --admin-port. The ports are the
// defaults; they are literals. Pure.
std::vector<Option> NewServerOptions(std::string_view port, std::string_view admin_port);

}  // namespace fieldcost::command

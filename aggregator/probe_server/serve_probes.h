#pragma once

#include "aggregator/probe_server/probe_server_config.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Serves until SIGTERM or SIGINT. Errors: those of the startup, and kIo if the database has failed.
Status Serve(const Config& config);

}  // namespace fieldcost::probe_server

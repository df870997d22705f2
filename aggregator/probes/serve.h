#pragma once

#include "aggregator/probes/config.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Serves until SIGTERM or SIGINT. Errors: of the start, or kIo: the database has failed.
Status Serve(const Config& config);

}  // namespace fieldcost::probe_server

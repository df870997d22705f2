#pragma once

#include "aggregator/config/aggregator_config.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Runs the service until SIGTERM or SIGINT; then finishes work in progress, makes a checkpoint and
// returns success. Returns an error if the service could not start, or if the store failed while
// running; in the latter case nothing more was acknowledged. Blocks the signals that it waits for
// in the calling thread; call it before starting any other thread.
Status Serve(const Config& config);

}  // namespace fieldcost::aggregator

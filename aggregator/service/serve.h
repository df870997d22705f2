#pragma once

#include "aggregator/config/config.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Runs the service until SIGTERM or SIGINT; then finishes what is in progress, makes a checkpoint
// and returns success. An error: it could not start, or the store failed while running; in that
// case nothing more was acknowledged. Blocks the signals it waits for in the calling thread;
// call it before any other thread is started.
Status Serve(const Config& config);

}  // namespace fieldcost::aggregator

#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// Whether a row may be added to the sums in week `current_week`: known metric, valid API key, a
// possible and plausible histogram, a recent week. The error's message is the reason the agent is
// told. Pure.
Status CheckRow(const wire::UntrustedRow& untrusted_row, std::uint32_t current_week);

// The part of it that does not depend on the time.
Status CheckRowContent(const wire::UntrustedRow& untrusted_row);

}  // namespace fieldcost::ingest

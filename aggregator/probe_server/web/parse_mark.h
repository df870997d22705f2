#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/probe/value_names.h"

namespace fieldcost::probe_server {

// Parses "set_aside", "kept" or "none" from forms and the API. kInvalidArgument. Pure.
inline Result<probe::Mark> ParseMark(std::string_view untrusted_word) {
  for (const probe::Mark mark : {probe::Mark::kSetAside, probe::Mark::kKept, probe::Mark::kNone}) {
    if (untrusted_word == probe::Name(mark)) return mark;
  }
  return Fail(ErrorCode::kInvalidArgument, "mark: expected set_aside, kept or none");
}

}  // namespace fieldcost::probe_server

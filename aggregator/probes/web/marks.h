#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// "set_aside", "kept" or "none", as forms and the API have them. kInvalidArgument. Pure.
inline Result<probe::Mark> ParseMark(std::string_view untrusted_word) {
  if (untrusted_word == "set_aside") return probe::Mark::kSetAside;
  if (untrusted_word == "kept") return probe::Mark::kKept;
  if (untrusted_word == "none") return probe::Mark::kNone;
  return Fail(ErrorCode::kInvalidArgument, "mark: expected set_aside, kept or none");
}

}  // namespace fieldcost::probe_server

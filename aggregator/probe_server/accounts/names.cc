#include "aggregator/probe_server/accounts/names.h"

#include "common/base/clean_text.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {

Status CheckName(std::string_view what, std::string_view untrusted_name) {
  if (untrusted_name.empty() || Trim(untrusted_name) != untrusted_name ||
      !IsText(untrusted_name, kMaxNameBytes)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "{} name: expected 1 to {} bytes of UTF-8 without control characters, and no blanks "
        "around it",
        what, kMaxNameBytes);
  }
  return {};
}

}  // namespace fieldcost::probe_server

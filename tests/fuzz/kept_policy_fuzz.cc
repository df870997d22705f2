// The service's policy, as the agent keeps it on disk.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/policy/field_policy.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::policy;
  const auto kept = DecodeKeptPolicy({reinterpret_cast<const char*>(data), size});
  if (!kept) return 0;
  FIELDCOST_CHECK(!kept->roots.empty() && kept->policy.size() < size);
  const auto again = DecodeKeptPolicy(EncodeKeptPolicy(*kept));
  FIELDCOST_CHECK(again && *again == *kept);
  return 0;
}

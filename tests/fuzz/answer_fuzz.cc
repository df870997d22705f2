#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/batch.h"
#include "common/wire/wire_requests.h"

// A server's response to a batch or a withdrawal: it is either refused or survives being encoded
// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view untrusted_json(reinterpret_cast<const char*>(data), size);
  if (const auto answer = wire::DecodeAnswer(untrusted_json)) {
    const auto again = wire::DecodeAnswer(wire::EncodeAnswer(*answer));
    FIELDCOST_CHECK(again && again->accepted_rows == answer->accepted_rows &&
                    again->receipt == answer->receipt);
  }
  if (const auto answer = wire::DecodeWithdrawalAnswer(untrusted_json)) {
    FIELDCOST_CHECK(wire::DecodeWithdrawalAnswer(wire::EncodeWithdrawalAnswer(*answer)).value() ==
                    *answer);
  }
  return 0;
}

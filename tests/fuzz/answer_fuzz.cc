#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/batch.h"

// What a server answers to a batch: refused, or something that survives being encoded again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const auto answer = wire::DecodeAnswer({reinterpret_cast<const char*>(data), size});
  if (!answer) return 0;
  const auto again = wire::DecodeAnswer(wire::EncodeAnswer(*answer));
  FIELDCOST_CHECK(again && again->accepted_rows == answer->accepted_rows);
  return 0;
}

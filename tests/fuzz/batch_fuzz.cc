// Bodies of POST /v1/batches: compressed as received and, because a fuzzer rarely finds a valid
// frame, also as the contents of a frame. Also the responses to agents.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/batch.h"
#include "common/wire/zstd_frame.h"

namespace {

using namespace fieldcost;

void ReadAll(wire::BatchDecoder& decoder, std::string_view untrusted_body) {
  if (!decoder.Decode(untrusted_body).has_value()) return;
  static_cast<void>(wire::ValidateHardwareClass(decoder.hardware()));
  wire::UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    if (row.malformed || !wire::ValidateApiKey(row.api).has_value()) continue;
    if (!Validate(row.histogram).has_value()) continue;
    // A valid row can be added and subtracted again.
    const auto scalars = ScalarsOf(row.histogram);
    FIELDCOST_CHECK(Validate(scalars).has_value());
    stats::CostHistogram sum = row.histogram;
    sum.Merge(row.histogram);
    FIELDCOST_CHECK(sum.saturated() || sum.Subtract(row.histogram).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::BatchDecoder decoder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadAll(decoder, bytes);
  if (const auto frame = wire::Compress(bytes, 1)) ReadAll(decoder, *frame);
  if (const auto answer = wire::DecodeAnswer(bytes)) {
    FIELDCOST_CHECK(wire::DecodeAnswer(wire::EncodeAnswer(*answer)).value() == *answer);
  }
  return 0;
}

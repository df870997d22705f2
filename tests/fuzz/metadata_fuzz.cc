// Signed metadata as downloaded, and payloads as if their signatures were valid.

#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/metadata.h"
#include "common/wire/metadata_payload.h"

namespace {

using namespace fieldcost;

// Everything that is decoded from a payload survives being encoded again.
template <typename Metadata>
void RoundTrip(std::string_view untrusted_payload, Result<Metadata> (*decode)(std::string_view)) {
  const auto metadata = decode(untrusted_payload);
  if (!metadata.has_value()) return;
  FIELDCOST_CHECK(decode(wire::EncodePayload(*metadata)).value() == *metadata);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto root = wire::VerifyPinnedRoot(bytes);
  const wire::RootMetadata trusted = root.has_value() ? *root : wire::RootMetadata();
  static_cast<void>(wire::VerifyRoot(bytes, trusted.root_keys, 1));
  static_cast<void>(wire::VerifyTimestamp(bytes, trusted));
  static_cast<void>(wire::VerifySnapshot(bytes, trusted));
  static_cast<void>(wire::VerifyPolicy(bytes, trusted));
  RoundTrip(bytes, &wire::DecodeRoot);
  RoundTrip(bytes, &wire::DecodeTimestamp);
  RoundTrip(bytes, &wire::DecodeSnapshot);
  RoundTrip(bytes, &wire::DecodePolicy);
  return 0;
}

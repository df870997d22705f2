// The list of a backup's files: it is either refused, or names files that survive being encoded
// again.
#include <cstdint>
#include <string_view>

#include "aggregator/upkeep/backup_manifest.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view untrusted_bytes(reinterpret_cast<const char*>(data), size);
  // The input as it is, and as lines with a correct checksum.
  std::string sealed = "fieldcost-backup 1\n" + std::string(untrusted_bytes);
  const std::string hash = crypto::Sha256(sealed);
  sealed += "sum " + HexEncode(hash) + '\n';
  for (const std::string_view text : {untrusted_bytes, std::string_view(sealed)}) {
    const auto files = aggregator::DecodeManifest(text);
    if (!files) continue;
    for (const aggregator::BackedUpFile& file : *files) {
      FIELDCOST_CHECK(file.path.starts_with("keys/") || file.path.starts_with("publish/"));
      FIELDCOST_CHECK(file.path.find("/.") == std::string::npos);
      FIELDCOST_CHECK(file.size_bytes <= aggregator::kMaxBackedUpFileBytes);
    }
    FIELDCOST_CHECK(aggregator::DecodeManifest(aggregator::EncodeManifest(*files)).value() ==
                    *files);
  }
  return 0;
}

// A receipt presented by an agent: it is either refused, or a set of rows that survives being
// encoded again.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "aggregator/ingest/receipt.h"
#include "common/base/check.h"
#include "common/crypto/sha256.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view untrusted_bytes(reinterpret_cast<const char*>(data), size);
  static const ingest::Receipts receipts(std::string(32, 's'));
  const ingest::BatchIdentity batch{.agent = {},
                                    .epoch = wire::Epoch(1),
                                    .sequence = wire::Sequence(1),
                                    .body_sha256 = crypto::Sha256("body")};
  FIELDCOST_CHECK(!receipts.Open(untrusted_bytes, batch));
  const auto rows = ingest::DecodeRefusedRows(untrusted_bytes);
  if (!rows) return 0;
  FIELDCOST_CHECK(std::is_sorted(rows->begin(), rows->end()));
  FIELDCOST_CHECK(ingest::DecodeRefusedRows(ingest::EncodeRefusedRows(*rows)).value() == *rows);
  FIELDCOST_CHECK(receipts.Open(receipts.Issue(batch, *rows), batch).value() == *rows);
  return 0;
}

// A batch of probe points as arbitrary bytes: as a body, and as the message inside it. Accepted
// batches are valid, survive being encoded again, and can be stored.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/probe/event_batch.h"
#include "common/probe/event_store.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::probe {
namespace {

void Try(std::string_view untrusted_body) {
  const auto batch = DecodeBatch(untrusted_body);
  if (!batch) return;
  FIELDCOST_CHECK(CheckBatch(*batch).has_value());
  const auto again = EncodeBatch(*batch);
  FIELDCOST_CHECK(!again || *DecodeBatch(*again) == *batch);
  auto database = sqlite::Database::Open(":memory:", sqlite::Database::Access::kCreate);
  FIELDCOST_CHECK(database.has_value());
  auto store = EventStore::Create(*database);
  auto transaction = sqlite::Transaction::Begin(*database);
  FIELDCOST_CHECK(store.has_value() && transaction.has_value());
  FIELDCOST_CHECK(store->Add(*batch, 1).has_value());
  for (const EventInfo& event : batch->events) {
    FIELDCOST_CHECK(store->Get({.owner = 1, .id = event.id}).has_value());
  }
  FIELDCOST_CHECK(store->Expire(~std::uint64_t{0} >> 1, batch->events.size()).has_value());
  FIELDCOST_CHECK(store->Measure()->hits == 0);
}

}  // namespace
}  // namespace fieldcost::probe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fieldcost::probe::Try(bytes);
  fieldcost::probe::Try(*fieldcost::wire::Compress(bytes, 1));
  return 0;
}

// Keys and values of the store's tables as found on disk.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/contributions.h"
#include "aggregator/store/dirty_table.h"
#include "aggregator/store/held.h"
#include "aggregator/store/invitation.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/probation.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/check.h"

namespace {

using namespace fieldcost;
using namespace fieldcost::store;

void ReadRows(std::string_view untrusted_bytes) {
  stats::RowKey key;
  if (DecodeRowKey(untrusted_bytes, key)) {
    std::string again;
    AppendRowKey(key, again);
    FIELDCOST_CHECK(again == untrusted_bytes);
  }
  CompactRow row;
  if (DecodeRowValue(untrusted_bytes, row)) {
    std::string once;
    AppendRowValue(row, once);
    CompactRow same;
    FIELDCOST_CHECK(DecodeRowValue(once, same).has_value());
    std::string twice;
    AppendRowValue(same, twice);
    FIELDCOST_CHECK(once == twice);
  }
  (void)RecordKindOf(untrusted_bytes);
  DirtyTable table;
  if (!table.AddRecord(untrusted_bytes)) return;
  std::size_t rows = 0;
  FIELDCOST_CHECK(ForEachAcceptedRow(untrusted_bytes, [&](std::string_view, const CompactRow&) {
                    ++rows;
                  }).has_value());
  FIELDCOST_CHECK(table.row_count() <= rows);
}

void ReadHeld(std::string_view untrusted_bytes) {
  const auto held = HeldBatch::Decode(untrusted_bytes);
  FIELDCOST_CHECK(!held || held->record.size() <= untrusted_bytes.size());
  const auto room = HeldRoom("key", untrusted_bytes);
  FIELDCOST_CHECK(!room || *room >= untrusted_bytes.size());
}

void ReadLedger(std::string_view untrusted_bytes) {
  if (const auto invitation = Invitation::Decode(untrusted_bytes)) {
    FIELDCOST_CHECK(Invitation::Decode(invitation->Encode()).value() == *invitation);
  }
  if (const auto head = LedgerHead::Decode(untrusted_bytes)) {
    FIELDCOST_CHECK(head->Encode() == untrusted_bytes);
    (void)head->Delivered();
    if (head->high_water() < UINT64_MAX) (void)head->Skipped(head->high_water() + 1);
  }
  if (const auto batches = DecodeUndelivered(untrusted_bytes)) {
    FIELDCOST_CHECK(DecodeUndelivered(EncodeUndelivered(*batches)).value() == *batches);
  }
  if (const auto first = DecodeSkipped(untrusted_bytes)) {
    FIELDCOST_CHECK(EncodeSkipped(*first) == untrusted_bytes);
  }
  if (const auto rows = DecodeTombstone(untrusted_bytes)) {
    FIELDCOST_CHECK(DecodeTombstone(EncodeTombstone(*rows)).value() == *rows);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadRows(bytes);
  ReadHeld(bytes);
  ReadLedger(bytes);
  (void)Probation::Decode(bytes);
  (void)DecodeKeptNumber(bytes);
  (void)DecodeBinding(bytes);
  if (const auto totals = Totals::Decode(bytes)) {
    FIELDCOST_CHECK(Totals::Decode(totals->Encode()).value() == *totals);
  }
  std::vector<std::uint64_t> hashes;
  if (DecodeContributions(bytes, hashes)) FIELDCOST_CHECK(hashes.size() <= size);
  return 0;
}

#include "aggregator/store/store_parts.h"

#include <algorithm>

#include "aggregator/store/batch_record.h"
#include "aggregator/store/store_limits.h"

namespace fieldcost::store {

std::string NamedNumberKey(std::string_view name) { return "number/" + std::string(name); }

Result<std::uint64_t> ReadMetaNumber(const Database& database, std::string_view key,
                                     const Database::View* view) {
  FIELDCOST_ASSIGN(const auto bytes, database.Get(Table::kMeta, key, view));
  if (!bytes) return std::uint64_t{0};
  if (bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "the stored {} is malformed", key);
  return ReadBigEndian(*bytes);
}

std::size_t SizeOfApi(std::string_view row_key) {
  constexpr int kTexts = 5;
  std::size_t size = 0;
  for (int text = 0; text < kTexts && size < row_key.size(); ++text) {
    size = std::min(row_key.find('\0', size), row_key.size() - 1) + 1;
  }
  return size;
}

std::uint32_t WeekOfRowKey(std::string_view row_key) {
  if (row_key.size() < kWeekBytes) return 0;
  return static_cast<std::uint32_t>(ReadBigEndian(row_key.substr(row_key.size() - kWeekBytes)));
}

void AppendLoggedBatch(const AcceptedBatch& batch, std::string& bytes) {
  if (batch.received.body.empty()) {
    bytes += batch.rows->bytes();
  } else {
    bytes += BatchRecordHead(batch.received.refused);
    bytes += batch.received.body;
  }
}

}  // namespace fieldcost::store

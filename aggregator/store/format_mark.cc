#include "aggregator/store/format_mark.h"

#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

// Returns 0 if there is no mark.
Result<std::uint64_t> ReadMark(const Database& database) {
  FIELDCOST_ASSIGN(const auto bytes, database.Get(Table::kMeta, kFormatKey));
  if (!bytes) return std::uint64_t{0};
  if (bytes->size() != sizeof(std::uint64_t)) {
    return Fail(ErrorCode::kCorrupt, "the store's format number is malformed");
  }
  return ReadBigEndian(*bytes);
}

Status CheckMark(std::uint64_t mark, std::string_view attempt) {
  if (mark == kStoreFormat) return {};
  if (mark == 0) {
    return Fail(ErrorCode::kCorrupt,
                "{}: it has entries but no format number. Restore a backup (restore), or move the "
                "store away: the next start creates a new one next to the same keys, and agents "
                "fill it",
                attempt);
  }
  return Fail(ErrorCode::kUnsupported,
              "{}: it has format {}, but this version of the program reads only format {}; use the "
              "version that wrote it",
              attempt, mark, kStoreFormat);
}

}  // namespace

Status CheckFormat(const Database& database, std::string_view attempt) {
  FIELDCOST_ASSIGN(const std::uint64_t mark, ReadMark(database));
  if (mark == 0) {
    FIELDCOST_ASSIGN(const bool is_empty, database.IsEmpty());
    if (is_empty) return {};
  }
  return CheckMark(mark, attempt);
}

Status CheckFormatBeforeTablesAreMade(DatabaseOptions options, std::string_view attempt) {
  if (!Database::LacksTables(options)) return {};
  options.access = DatabaseAccess::kRead;
  FIELDCOST_ASSIGN(const auto database, Database::Open(options));
  return CheckFormat(*database, attempt);
}

Status CheckOrMarkFormat(Database& database, std::string_view attempt) {
  FIELDCOST_TRY(CheckFormat(database, attempt));
  FIELDCOST_ASSIGN(const std::uint64_t mark, ReadMark(database));
  if (mark != 0) return {};
  std::string number;
  AppendBigEndian64(kStoreFormat, number);
  Database::WriteSet changes(database);
  changes.Put(Table::kMeta, kFormatKey, number);
  return database.Write(changes);
}

}  // namespace fieldcost::store

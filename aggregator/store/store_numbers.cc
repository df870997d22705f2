// Stores named numbers for the caller: the part of Store about PutNumber() and GetNumber().
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {

Status Store::PutNumber(std::string_view name, std::uint64_t value) {
  if (state_->failure.has_happened()) return StoreFailed();
  Database::WriteSet changes(*state_->database);
  changes.Put(Table::kMeta, NamedNumberKey(name), NumberKey(value));
  if (Status status = state_->database->Write(changes); !status) {
    return state_->failure.Record(status.error());
  }
  return {};
}

Result<std::uint64_t> Store::GetNumber(std::string_view name) const {
  FIELDCOST_ASSIGN(const auto bytes, state_->database->Get(Table::kMeta, NamedNumberKey(name)));
  if (!bytes) return std::uint64_t{0};
  if (bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "the number {} is malformed", name);
  return ReadBigEndian(*bytes);
}

Result<std::uint64_t> Store::Restorations() const { return GetNumber(kRestorations); }

}  // namespace fieldcost::store

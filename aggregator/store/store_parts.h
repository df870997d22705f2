#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/database.h"
#include "common/base/byte_order.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Keys and values that the parts of the store exchange; for this folder's sources only.

// Keys in Table::kProgress.
inline constexpr char kAppliedKey[] = "applied";
inline constexpr char kTotalsKey[] = "totals";
inline constexpr char kRestorations[] = "restorations";  // see Store::RestoreBackup()
// Prefixes of keys in Table::kMeta: of a binding's name, and of the id of a revoked agent.
inline constexpr char kBindingPrefix[] = "binding/";
inline constexpr std::string_view kRevokedPrefix = "revoked/";

// Present in Table::kMeta from a restore until a publication has settled.
inline constexpr char kUnsettledKey[] = "unsettled";
inline constexpr char kUnsettled[] = "\1";
// A number in Table::kMeta: the greatest that the last publication contains.
inline constexpr char kPublishedNumberKey[] = "published_number";

// The error returned by every call after a failure.
inline Error StoreFailed() {
  return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
}

inline std::string NumberKey(std::uint64_t number) {
  std::string key;
  AppendBigEndian64(number, key);
  return key;
}

// The key under which Store::PutNumber() stores a number.
std::string NamedNumberKey(std::string_view name);
// A number in Table::kMeta; 0 if it was never set. Reads the newest state if `view` is null.
Result<std::uint64_t> ReadMetaNumber(const Database& database, std::string_view key,
                                     const Database::View* view = nullptr);

// Size of a row key's first part, its API, which ends with the fifth zero byte.
std::size_t SizeOfApi(std::string_view row_key);
// The week at the end of a row key.
std::uint32_t WeekOfRowKey(std::string_view row_key);

// Appends the batch in the form of the log: its body as received if there is one, otherwise its
// rows in our own form.
void AppendLoggedBatch(const AcceptedBatch& batch, std::string& bytes);

// A batch's addition to the sums, in the form of the log.
struct Addition {
  std::string record;
  std::uint64_t sequence = 0;
};

// A kept batch that is removed once its withdrawal is in the rows.
struct PendingRemoval {
  std::uint64_t withdrawal = 0;  // its number
  std::uint64_t batch = 0;
};

// How accepting a batch changes the held batches.
struct ProbationStep {
  bool held = false;  // the batch itself is held
  std::uint64_t held_bytes = 0;
  bool no_room = false;            // it should be held, but others would have to be dropped
  std::vector<Addition> released;  // in the order of their sequences
  std::uint64_t released_bytes = 0;
};

}  // namespace fieldcost::store

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/published_codec.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Everything that the table of published units has about one unit: its record, marks, or both.
struct PublishedEntry {
  PublishedKey key;
  std::optional<PublishedUnit> unit;  // nullopt: only marks, because nothing was published
  std::vector<WithdrawalMark> marks;  // ascending by withdrawal
  std::string unit_key;               // the key's bytes, as AppendUnitKey()
};

// Reads the table of published units at one moment, ascending by PublishedKey, so that it can be
// merged with the rows of the same moment: the rows of a unit's API and metric are together, too.
// Memory for one unit. Not thread-safe.
class PublishedReader {
 public:
  // Reads the units whose keys are in [begin, end) (`end` empty: no bound), and the marks of
  // withdrawals with numbers up to `number`: later ones are not in the rows of this moment.
  // `view` is null for the newest state. REQUIRES: does not outlive its database.
  PublishedReader(const Database& database, std::shared_ptr<Database::View> view,
                  std::uint64_t number, std::string_view begin = {}, std::string_view end = {});
  ~PublishedReader();
  PublishedReader(PublishedReader&&) noexcept;
  PublishedReader& operator=(PublishedReader&&) noexcept;

  // Returns the next unit, null after the last one; valid until the next call. kCorrupt: an entry
  // is malformed; kUnsupported: a newer program wrote it; kIo.
  Result<const PublishedEntry*> Next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store

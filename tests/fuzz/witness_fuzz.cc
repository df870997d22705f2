// A witness file, which a user names and others may have changed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/catalog/witness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::catalog;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto witness = ParseWitness(text);
  if (!witness) return 0;
  FIELDCOST_CHECK(witness->last_line_sha256.empty() == text.empty());
  if (witness->snapshot_count != 0) {
    FIELDCOST_CHECK(NextWitnessText(*witness, witness->last)->empty());
    WitnessedSnapshot other = witness->last;
    other.sha256[0] = other.sha256[0] == '0' ? '1' : '0';
    FIELDCOST_CHECK(!NextWitnessText(*witness, other));
  }
  const WitnessedSnapshot next{.version = witness->last.version + 1,
                               .published = "2026-11-22T10:00:30Z",
                               .sha256 = std::string(64, 'a')};
  if (next.version == 0) return 0;
  const auto added = NextWitnessText(*witness, next);
  FIELDCOST_CHECK(added.has_value());
  const auto extended = ParseWitness(text + *added);
  FIELDCOST_CHECK(extended && extended->last == next);
  FIELDCOST_CHECK(extended->snapshot_count == witness->snapshot_count + 1);
  return 0;
}

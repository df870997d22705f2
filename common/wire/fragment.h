#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// Encodes one published part of the catalogue: all rows of the APIs that hash into it, sorted by
// key. Columnar like a batch, zstd-compressed. Deterministic: equal rows give equal bytes. Exact
// except for the weights, which are rounded to 1/65536 of their row's total; the number of
// contributions that they represent is exact, and decoded weights can be encoded again without
// further loss.
Result<std::string> EncodeFragment(const std::vector<stats::StatRow>& sorted_rows);

// kCorrupt, kTooLarge or kUnsupported unless every row is valid (key texts, histogram polytope,
// scalars, weights, bounded sums, fullest quarter) and rows are strictly ascending by key.
// kTooLarge if there are more than `max_rows` rows; each takes about 4 KiB of memory.
Result<std::vector<stats::StatRow>> DecodeFragment(std::string_view untrusted_bytes,
                                                   std::size_t max_rows = kMaxFragmentRows);

// Which of the 2^fragment_bits fragments an API is in: the first bits of sha256(soname '!' symbol).
// All versions and metrics of an API are in one fragment.
std::uint32_t FragmentIndexOf(std::string_view soname, std::string_view symbol,
                              unsigned fragment_bits);

}  // namespace fieldcost::wire

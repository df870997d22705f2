#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// One published part of the catalogue: all rows of the APIs that hash into it, sorted by key.
// Encoded columnar like a batch, zstd-compressed. Deterministic: same rows, same bytes. Exact but
// for the weights, which are rounded to 1/65536 of their row's total; how many contributions they
// stand for is exact, and decoded weights are encoded again without a further change.
Result<std::string> EncodeFragment(const std::vector<stats::StatRow>& sorted_rows);

// kCorrupt, kTooLarge or kUnsupported unless every row is valid (key texts, histogram polytope,
// scalars, weights, bounded sums, fullest quarter) and rows are strictly ascending by key. Beyond
// `max_rows` it is kTooLarge; a row takes about 4 KiB of memory.
Result<std::vector<stats::StatRow>> DecodeFragment(std::string_view untrusted_bytes,
                                                   std::size_t max_rows = kMaxFragmentRows);

// Which of the 2^fragment_bits fragments an API is in: the first bits of sha256(soname '!' symbol).
// All versions and metrics of an API are in one fragment.
std::uint32_t FragmentIndexOf(std::string_view soname, std::string_view symbol,
                              unsigned fragment_bits);

}  // namespace fieldcost::wire

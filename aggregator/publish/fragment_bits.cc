#include "aggregator/publish/fragment_bits.h"

#include "aggregator/publish/publish_limits.h"

namespace fieldcost::publish {

unsigned ChooseFragmentBits(std::uint64_t rows, const std::optional<PreviousFragments>& previous) {
  double row_bytes = kFirstGuessRowBytes;
  if (previous && previous->rows != 0) {
    row_bytes = static_cast<double>(previous->bytes) / static_cast<double>(previous->rows);
  }
  const double total = static_cast<double>(rows) * row_bytes;
  const auto average = [total](unsigned bits) {
    return total / static_cast<double>(std::uint64_t{1} << bits);
  };
  if (previous && average(previous->bits) <= kLargeFragmentBytes &&
      (previous->bits == 0 || average(previous->bits) >= kSmallFragmentBytes)) {
    return previous->bits;
  }
  unsigned bits = 0;
  while (bits < wire::kMaxFragmentBits && average(bits) > kTargetFragmentBytes) ++bits;
  return bits;
}

}  // namespace fieldcost::publish

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "common/wire/batch.h"
#include "tests/common/wire/samples.h"

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Not inlined: g++ would report new and free() as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fieldcost::wire {
namespace {

TEST(AllocationTest, DecodingFurtherBatchesDoesNotAllocate) {
  const std::string body = EncodeBatch(ManyRows(2000)).value();
  BatchDecoder decoder;
  UntrustedRow row;
  std::size_t in_last_round = 0;
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = allocations;
    ASSERT_TRUE(decoder.Decode(body).has_value());
    for (std::size_t i = 0; i < decoder.row_count(); ++i) decoder.GetRow(i, row);
    in_last_round = allocations - before;
    if (round == 0) {
      ASSERT_GT(in_last_round, 0U);
    }
  }
  EXPECT_EQ(in_last_round, 0U);
}

}  // namespace
}  // namespace fieldcost::wire

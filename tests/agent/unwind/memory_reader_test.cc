#include "agent/unwind/memory_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

namespace fieldcost::unwind {
namespace {

constexpr std::uint64_t kBase = 0x7000'0000;

// Bytes starting at kBase.
class FakeMemory : public MemoryReader {
 public:
  explicit FakeMemory(std::size_t words) : words_(words) {
    for (std::size_t i = 0; i < words; ++i) words_[i] = i;
  }
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override {
    ++reads;
    const std::size_t bytes = words_.size() * sizeof words_[0];
    if (address < kBase || address >= kBase + bytes) return 0;
    const std::size_t got = std::min<std::size_t>(size, kBase + bytes - address);
    std::memcpy(to, reinterpret_cast<const char*>(words_.data()) + (address - kBase), got);
    return got;
  }
  std::vector<std::uint8_t> Copy(std::size_t bytes) const {
    std::vector<std::uint8_t> copy(bytes);
    std::memcpy(copy.data(), words_.data(), bytes);
    return copy;
  }
  std::uint64_t& operator[](std::size_t i) { return words_[i]; }

  int reads = 0;

 private:
  std::vector<std::uint64_t> words_;
};

std::uint64_t At(std::size_t word) { return kBase + word * sizeof(std::uint64_t); }

TEST(StackMemoryTest, DoesNotReadCopiedBytesAgain) {
  FakeMemory memory(4096);
  const auto copy = memory.Copy(2048);
  memory[7] = 99;
  StackMemory stack(kBase, copy, &memory);
  std::uint64_t value = 0;
  EXPECT_TRUE(stack.Read(At(7), value));
  EXPECT_EQ(value, 7U);
  EXPECT_TRUE(stack.Read(At(255), value));
  EXPECT_EQ(value, 255U);
  EXPECT_EQ(memory.reads, 0);
}

TEST(StackMemoryTest, ReadsMemoryBeyondTheCopyIfTheSeamIsUnchanged) {
  FakeMemory memory(100'000);
  const auto copy = memory.Copy(2048);
  StackMemory stack(kBase, copy, &memory);
  std::uint64_t value = 0;
  EXPECT_TRUE(stack.Read(At(256), value));
  EXPECT_EQ(value, 256U);
  EXPECT_TRUE(stack.Read(At(255) + 4, value));  // partly in the copy
  EXPECT_EQ(value, std::uint64_t{256} << 32);
  EXPECT_TRUE(stack.Read(At(90'000), value));
  EXPECT_EQ(value, 90'000U);
  EXPECT_FALSE(stack.seam_broken());
  EXPECT_FALSE(stack.Read(At(100'000), value));  // the stack's end
  EXPECT_FALSE(stack.Read(At(0) - 8, value));
}

TEST(StackMemoryTest, RejectsAStackWithAChangedSeam) {
  for (const std::size_t changed : {192, 255}) {
    FakeMemory memory(4096);
    const auto copy = memory.Copy(2048);
    memory[changed] = 5000;
    StackMemory stack(kBase, copy, &memory);
    std::uint64_t value = 0;
    EXPECT_FALSE(stack.Read(At(300), value));
    EXPECT_TRUE(stack.seam_broken());
    EXPECT_EQ(memory.reads, 1);
    EXPECT_FALSE(stack.Read(At(300), value));
    EXPECT_EQ(memory.reads, 1);  // never again
    EXPECT_TRUE(stack.Read(At(3), value));
  }
  FakeMemory memory(4096);
  const auto copy = memory.Copy(2048);
  memory[191] = 5000;  // before the seam: the thread is using it
  StackMemory stack(kBase, copy, &memory);
  std::uint64_t value = 0;
  EXPECT_TRUE(stack.Read(At(300), value));
}

TEST(StackMemoryTest, EachFurtherReadHasASeamOfItsOwn) {
  FakeMemory memory(1'000'000);
  const auto copy = memory.Copy(2048);
  StackMemory stack(kBase, copy, &memory);
  std::uint64_t value = 0;
  EXPECT_TRUE(stack.Read(At(300), value));
  const std::size_t end =
      (stack.fetched_bytes() + copy.size() - StackMemory::kSeamBytes) / sizeof value;
  memory[end - 1] = 7;
  EXPECT_FALSE(stack.Read(At(end), value));
  EXPECT_TRUE(stack.seam_broken());
}

TEST(StackMemoryTest, OtherStacksAreReadOnlyOfAThreadThatIsStopped) {
  FakeMemory memory(4'000'000);
  const auto copy = memory.Copy(2048);
  const std::uint64_t far = At(3'000'000);
  std::uint64_t value = 0;
  StackMemory running(kBase, copy, &memory);
  EXPECT_FALSE(running.Read(far, value));
  StackMemory stopped(kBase, copy, &memory, StackMemory::Thread::kStopped);
  EXPECT_TRUE(stopped.Read(far, value));
  EXPECT_EQ(value, 3'000'000U);
  EXPECT_TRUE(stopped.Read(At(400), value));
  StackMemory none(kBase, {}, nullptr);
  EXPECT_FALSE(none.Read(kBase, value));
}

TEST(StackMemoryTest, NoMoreIsFetchedThanTheLimit) {
  FakeMemory memory(2 * StackMemory::kMostFetchedBytes / sizeof(std::uint64_t));
  const auto copy = memory.Copy(2048);
  StackMemory stack(kBase, copy, &memory);
  std::uint64_t value = 0;
  EXPECT_FALSE(stack.Read(kBase + StackMemory::kMostFetchedBytes + 4096, value));
  EXPECT_FALSE(stack.Read(UINT64_MAX - 4, value));
  EXPECT_TRUE(stack.Read(kBase + StackMemory::kMostFetchedBytes - 4096, value));
}

TEST(ProcessMemoryTest, EndsWhereMemoryEnds) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const at =
      ::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto* const bytes = static_cast<char*>(at);
  std::memset(bytes, 'x', 3 * page);
  ASSERT_EQ(::mprotect(bytes + 2 * page, page, PROT_NONE), 0);
  ProcessMemory memory(::getpid());
  std::vector<char> to(3 * page);
  const auto address = reinterpret_cast<std::uint64_t>(bytes);
  EXPECT_EQ(memory.Read(address + 10, to.data(), to.size()), 2 * page - 10);
  EXPECT_EQ(to[0], 'x');
  EXPECT_EQ(memory.Read(address + 2 * page, to.data(), page), 0U);
  EXPECT_EQ(memory.Read(UINT64_MAX - 4, to.data(), page), 0U);
  ::munmap(at, 3 * page);
}

TEST(MemoryAtTest, ReadsOnlyTheGivenBytes) {
  const std::array<std::uint8_t, 4> bytes = {1, 2, 3, 4};
  MemoryAt memory(1000, bytes);
  std::array<std::uint8_t, 4> read{};
  EXPECT_EQ(memory.Read(1000, read.data(), 4), 4U);
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(memory.Read(1003, read.data(), 4), 1U);
  EXPECT_EQ(read[0], 4);
  EXPECT_EQ(memory.Read(1004, read.data(), 1), 0U);
  EXPECT_EQ(memory.Read(999, read.data(), 4), 0U);
  EXPECT_EQ(MemoryAt(0, {}).Read(0, read.data(), 1), 0U);
}

}  // namespace
}  // namespace fieldcost::unwind

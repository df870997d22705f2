// Compares stacks of real programs at many places with those found by libdw.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "agent/unwind/unwinder.h"
#include "tests/agent/unwind/libdw_stack.h"
#include "tests/agent/unwind/traced_process.h"

namespace fieldcost::unwind {
namespace {

using testing::LibdwStack;
using testing::TracedProcess;

struct Program {
  const char* name;
  std::vector<std::string> command;
};

std::vector<std::uint64_t> AddressesOf(const Stack& stack) {
  std::vector<std::uint64_t> addresses;
  for (const Frame& frame : stack.frames) addresses.push_back(frame.address);
  return addresses;
}

std::string Hex(const std::vector<std::uint64_t>& addresses) {
  return fmt::format("{:x}", fmt::join(addresses, " "));
}

class Comparison {
 public:
  explicit Comparison(TracedProcess& process) : process_(process), unwinder_(tables_) {}

  void Here() {
    if (peer_ == nullptr || generation_ != process_.map().generation()) {
      peer_ = std::make_unique<LibdwStack>(process_.pid());
      generation_ = process_.map().generation();
    }
    const Registers registers = process_.registers();
    StackMemory memory(registers[kRsp], {}, &process_.memory(), StackMemory::Thread::kStopped);
    unwinder_.Unwind(process_.map(), registers, memory, stack_);
    const auto expected = peer_->Addresses();
    const auto found = AddressesOf(stack_);
    ++stops;
    frames += expected.size();
    deepest = std::max(deepest, found.size());
    if (stack_.end == StackEnd::kOutermost) ++whole;
    // Both begin at the same instruction; after the first difference, frames are not comparable.
    const auto differs =
        std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    equal_frames += static_cast<std::size_t>(differs.first - expected.begin());
    if (expected != found && differences.size() < 2000) {
      differences += fmt::format("stop {}, end {}:\n ours  {}\n libdw {}\n", stops,
                                 static_cast<int>(stack_.end), Hex(found), Hex(expected));
    }
  }

  std::size_t stops = 0;
  std::size_t frames = 0;
  std::size_t equal_frames = 0;
  std::size_t whole = 0;
  std::size_t deepest = 0;
  std::string differences;

 private:
  TracedProcess& process_;
  TableCache tables_;
  Unwinder unwinder_;
  Stack stack_;
  std::unique_ptr<LibdwStack> peer_;
  std::uint64_t generation_ = 0;
};

class RealProgramsTest : public ::testing::TestWithParam<Program> {};

TEST_P(RealProgramsTest, HaveTheStacksThatLibdwFinds) {
  if (!std::filesystem::exists(GetParam().command[0])) {
    GTEST_SKIP() << GetParam().command[0] << " is not installed";
  }
  TracedProcess process(GetParam().command);
  Comparison comparison(process);
  std::mt19937 random(1);  // NOLINT: the same places each time
  constexpr std::size_t kMostStops = 1000;
  constexpr std::size_t kStopsBehindACall = 12;
  constexpr std::uint_fast32_t kMostInstructions = 60;
  while (comparison.stops < kMostStops && process.RunToSystemCall()) {
    for (std::size_t i = 0; i < kStopsBehindACall && !process.ended(); ++i) {
      comparison.Here();
      for (auto left = random() % kMostInstructions; left > 0 && process.Step(); --left) {
      }
    }
  }
  RecordProperty("stops", std::to_string(comparison.stops));
  RecordProperty("frames", std::to_string(comparison.frames));
  RecordProperty("equal_frames", std::to_string(comparison.equal_frames));
  EXPECT_GE(comparison.stops, 500U);
  EXPECT_GE(comparison.deepest, 8U);
  EXPECT_GE(static_cast<double>(comparison.equal_frames),
            0.99 * static_cast<double>(comparison.frames))
      << comparison.differences;
  EXPECT_GE(static_cast<double>(comparison.whole), 0.99 * static_cast<double>(comparison.stops));
  if (comparison.equal_frames != comparison.frames) std::cout << comparison.differences;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, RealProgramsTest,
    ::testing::Values(
        Program{"python3", {"/usr/bin/python3", "-c", "import json, re\nprint(json.dumps([1]))"}},
        Program{"sqlite3",
                {"/usr/bin/sqlite3", ":memory:",
                 "create table t(a, b); insert into t with recursive n(i) as (select 1 union all "
                 "select i + 1 from n where i < 2000) select i, random() from n; "
                 "select a from t order by b limit 900;"}},
        Program{"clang", {"/usr/bin/clang-14", "--version"}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fieldcost::unwind

// Compares stacks at each instruction of programs with the return addresses that calls left there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/unwind/unwinder.h"
#include "tests/agent/unwind/traced_process.h"
#include "tests/support/binary_dir.h"

namespace fieldcost::unwind {
namespace {

namespace fs = std::filesystem;
using testing::ShadowStack;
using testing::TracedProcess;

const fs::path kVictims = fs::path(FIELDCOST_BINARY_DIR) / "victims";

constexpr std::size_t kMostSteps = 2'000'000;

struct Outcome {
  std::size_t steps = 0;
  std::size_t whole = 0;
  std::size_t without_rules = 0;             // correct up to code without any rules
  std::size_t misguessed = 0;                // of these: with a wrong frame beyond that code
  std::map<std::string, std::size_t> wrong;  // by module
  std::size_t deepest = 0;
  std::string first_wrong;
};

std::string Described(const Stack& stack, const std::vector<std::uint64_t>& truth,
                      const ModuleMap& map) {
  const auto place = [&](std::uint64_t address) {
    for (const Mapping& mapping : map.mappings()) {
      if (address >= mapping.start && address < mapping.end) {
        return fmt::format("{}+{:#x}", fs::path(mapping.path).filename().string(),
                           address - mapping.start + mapping.file_offset);
      }
    }
    return fmt::format("{:#x}", address);
  };
  std::string text = fmt::format("ended {}; found", static_cast<int>(stack.end));
  for (const Frame& frame : stack.frames) text += " " + place(frame.address);
  text += "; truth";
  for (const std::uint64_t address : truth) text += " " + place(address);
  return text;
}

// Whether the frames that were not guessed, from the innermost on, are correct.
bool TrueAsFarAsItGoes(const Stack& stack, const std::vector<std::uint64_t>& truth) {
  for (std::size_t i = 1; i < stack.frames.size() && !stack.frames[i].guessed; ++i) {
    if (i > truth.size() || stack.frames[i].address != truth[i - 1]) return false;
  }
  return true;
}

bool IsWhole(const Stack& stack, const std::vector<std::uint64_t>& truth) {
  return stack.end == StackEnd::kOutermost &&
         std::equal(
             stack.frames.begin() + 1, stack.frames.end(), truth.begin(), truth.end(),
             [](const Frame& frame, std::uint64_t address) { return frame.address == address; });
}

// Whether a frame, guessed or not, is wrong.
bool HasWrongFrame(const Stack& stack, const std::vector<std::uint64_t>& truth) {
  const auto found = std::mismatch(
      stack.frames.begin() + 1, stack.frames.end(), truth.begin(), truth.end(),
      [](const Frame& frame, std::uint64_t address) { return frame.address == address; });
  return found.first != stack.frames.end();
}

// Whether the code where it ended, or began to guess, has no rules at all.
bool EndsWithoutRules(const Stack& stack, ModuleMap& map) {
  const auto guess = std::find_if(stack.frames.begin(), stack.frames.end(),
                                  [](const Frame& frame) { return frame.guessed; });
  const Frame& last = guess == stack.frames.end() ? stack.frames.back() : *(guess - 1);
  const Mapping* const mapping = map.Find(last.lookup_address());
  return mapping != nullptr && mapping->table != nullptr &&
         mapping->table->Find(last.lookup_address() - mapping->bias) == nullptr;
}

std::string ModuleAt(TracedProcess& process) {
  const Mapping* const mapping = process.map().Find(process.instruction_pointer());
  return mapping == nullptr ? "" : fs::path(mapping->path).filename().string();
}

Outcome Follow(TracedProcess& process, ShadowStack& shadow, std::size_t most_steps) {
  TableCache tables;
  Unwinder unwinder(tables);
  Stack stack;
  Outcome outcome;
  while (outcome.steps < most_steps) {
    shadow.Before(process);
    if (!process.Step()) break;
    shadow.After(process);
    ++outcome.steps;
    const Registers registers = process.registers();
    StackMemory memory(registers[kRsp], {}, &process.memory(), StackMemory::Thread::kStopped);
    unwinder.Unwind(process.map(), registers, memory, stack);
    const auto truth = shadow.Addresses(process);
    outcome.deepest = std::max(outcome.deepest, truth.size());
    if (IsWhole(stack, truth)) {
      ++outcome.whole;
    } else if (TrueAsFarAsItGoes(stack, truth) && EndsWithoutRules(stack, process.map())) {
      ++outcome.without_rules;
      if (HasWrongFrame(stack, truth) && ++outcome.misguessed < 10) {
        outcome.first_wrong +=
            fmt::format("step {}: {}\n", outcome.steps, Described(stack, truth, process.map()));
      }
    } else if (++outcome.wrong[ModuleAt(process)] < 10) {
      outcome.first_wrong +=
          fmt::format("step {}: {}\n", outcome.steps, Described(stack, truth, process.map()));
    }
  }
  return outcome;
}

struct Victim {
  const char* name;
  double least_whole;  // share of its instructions
};

class EveryInstructionTest : public ::testing::TestWithParam<Victim> {};

TEST_P(EveryInstructionTest, FromTheFirstToTheLastTheStackIsWhatCallsLeft) {
  const fs::path program = kVictims / GetParam().name;
  if (!fs::exists(program)) GTEST_SKIP() << program << " was not built: its compiler is missing";
  TracedProcess process({program.string()});
  ShadowStack shadow;
  const Outcome outcome = Follow(process, shadow, kMostSteps);
  EXPECT_EQ(process.exit_status(), 0);
  EXPECT_GE(outcome.deepest, 15U);
  EXPECT_EQ(outcome.misguessed, 0U) << outcome.first_wrong;
  EXPECT_THAT(outcome.wrong, ::testing::IsEmpty()) << outcome.first_wrong;
  const double whole = static_cast<double>(outcome.whole) / static_cast<double>(outcome.steps);
  EXPECT_GE(whole, GetParam().least_whole);
  RecordProperty("instructions", std::to_string(outcome.steps));
  RecordProperty("whole", fmt::format("{:.5f}", whole));
}

// musl has no call frame information: its code is analysed. The missing part of its programs runs
// in functions that never return: its loader, and the functions called by exit().
INSTANTIATE_TEST_SUITE_P(
    Victims, EveryInstructionTest,
    ::testing::Values(Victim("frames", 0.9999), Victim("frames_debug", 0.9999),
                      Victim("frames_fp", 0.9999), Victim("frames_clang", 0.9999),
                      Victim("frames_static", 0.9999), Victim("frames_static_pie", 0.9999),
                      Victim("frames_musl", 0.4), Victim("frames_musl_static", 0.97)),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ExceptionTest, WhilePassingTheyLeaveTheStackThatCallsLeft) {
  TracedProcess process({(kVictims / "frames_throw").string()});
  ASSERT_TRUE(process.RunToStop());  // in the first destructor, during an exception
  const Registers registers = process.registers();
  TableCache tables;
  Unwinder unwinder(tables);
  StackMemory memory(registers[kRsp], {}, &process.memory(), StackMemory::Thread::kStopped);
  Stack stack;
  unwinder.Unwind(process.map(), registers, memory, stack);
  ASSERT_EQ(stack.end, StackEnd::kOutermost);
  std::vector<std::uint64_t> callers;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) callers.push_back(stack.frames[i].address);
  ShadowStack shadow;
  shadow.StartFrom(callers, process);
  const Outcome outcome = Follow(process, shadow, kMostSteps);
  EXPECT_EQ(process.exit_status(), 0);
  EXPECT_GE(outcome.steps, 10'000U);
  // The function that passes an exception on overwrites its own frame before it leaves it.
  const std::size_t passing =
      outcome.wrong.contains("libgcc_s.so.1") ? outcome.wrong.at("libgcc_s.so.1") : 0;
  EXPECT_EQ(outcome.wrong.size(), 1U) << outcome.first_wrong;
  EXPECT_LE(passing, 100U) << outcome.first_wrong;
  EXPECT_LE(outcome.without_rules, 100U);  // at the program's end
  EXPECT_EQ(outcome.whole + outcome.without_rules + passing, outcome.steps) << outcome.first_wrong;
}

}  // namespace
}  // namespace fieldcost::unwind

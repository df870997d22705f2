// Arbitrary registers and an arbitrary stack, unwound with arbitrary rules: 2 bytes hold the length
// of the rules' program; then follow the program, 17 registers, and the stack.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "agent/unwind/unwinder.h"
#include "common/base/check.h"
#include "tests/agent/unwind/made_process.h"

namespace {

using fieldcost::testing::kMadeAddress;
using fieldcost::testing::kMadeCode;
using fieldcost::testing::MadeProcess;

constexpr std::uint64_t kStack = 0x7ffc'0000'0000;
constexpr std::size_t kCodeBytes = 256;
constexpr std::size_t kGeneratedBytes = 4096;

std::string FileOf(const std::string& program) {
  using fieldcost::testing::MadeCommon;
  using fieldcost::testing::MadeFunction;
  const std::uint64_t code = kMadeAddress + kMadeCode;
  std::string section = MadeFunction(MadeCommon(), code, kCodeBytes / 2, program);
  section = MadeFunction(section, code + kCodeBytes / 2, kCodeBytes / 4, "");
  return fieldcost::testing::MadeElf(std::string(kCodeBytes, '\x90'), section);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::unwind::Stack;
  using fieldcost::unwind::StackEnd;
  using fieldcost::unwind::StackMemory;
  if (size < 2) return 0;
  const std::size_t program_bytes =
      std::min(std::size_t{data[0]} | std::size_t{data[1]} << 8, size - 2);
  data += 2;
  const std::string program(reinterpret_cast<const char*>(data), program_bytes);
  data += program_bytes;
  size -= 2 + program_bytes;
  MadeProcess process(FileOf(program));
  fieldcost::unwind::Registers registers;
  for (std::size_t i = 0; i < fieldcost::unwind::kRegisters && size >= 8;
       ++i, data += 8, size -= 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, data, sizeof value);
    // Small numbers are mapped to addresses in the code and on the stack; otherwise almost none
    // would be valid.
    constexpr std::uint64_t kSmall = 1 << 16;
    if (value < kSmall) value += i == fieldcost::unwind::kRip ? MadeProcess::Address(0) : kStack;
    if (value != 0) registers.Set(i, value);
  }
  // The stack's memory also counts as generated code, so that code of every kind is followed.
  fieldcost::unwind::Mapping generated;
  generated.start = kStack;
  generated.end = kStack + kGeneratedBytes;
  FIELDCOST_CHECK(process.map.Add(generated));
  // Words of the stack are mapped likewise.
  std::string stack_bytes(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i + 8 <= stack_bytes.size(); i += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, stack_bytes.data() + i, sizeof value);
    if (value < kCodeBytes) {
      value += MadeProcess::Address(0);
    } else if (value < kCodeBytes + kGeneratedBytes) {
      value += kStack - kCodeBytes;
    }
    std::memcpy(stack_bytes.data() + i, &value, sizeof value);
  }
  const std::span<const std::uint8_t> bytes(
      reinterpret_cast<const std::uint8_t*>(stack_bytes.data()), stack_bytes.size());
  fieldcost::unwind::MemoryAt reader(kStack, bytes);
  StackMemory memory(kStack, bytes, &reader);
  Stack stack;
  process.unwinder.Unwind(process.map, registers, memory, stack);
  FIELDCOST_CHECK(stack.frames.size() <= fieldcost::unwind::kMostFrames);
  FIELDCOST_CHECK(stack.frames.size() < fieldcost::unwind::kMostFrames ||
                  stack.end == StackEnd::kTooDeep);
  // All frames but the first must be in code.
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    FIELDCOST_CHECK(stack.frames[i].exact ||
                    process.map.Find(stack.frames[i].lookup_address()) != nullptr);
  }
  return 0;
}

#include "agent/unwind/expression.h"

#include <array>

#include "agent/unwind/byte_cursor.h"
#include "agent/unwind/dwarf_numbers.h"

namespace fieldcost::unwind {
namespace {

constexpr std::uint64_t Widened(std::int64_t value) { return static_cast<std::uint64_t>(value); }
constexpr std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// A stack of bounded depth: if an operation would exceed it or take from an empty stack, ok()
// becomes false.
class ValueStack {
 public:
  bool ok() const { return ok_; }
  void Push(std::uint64_t value) {
    if (depth_ == values_.size()) {
      ok_ = false;
      return;
    }
    values_[depth_++] = value;
  }
  std::uint64_t Pop() {
    if (depth_ == 0) {
      ok_ = false;
      return 0;
    }
    return values_[--depth_];
  }
  // Returns the value `down` positions below the top.
  std::uint64_t Pick(std::size_t down) {
    if (down >= depth_) {
      ok_ = false;
      return 0;
    }
    return values_[depth_ - 1 - down];
  }

 private:
  std::array<std::uint64_t, kMostExpressionDepth> values_{};
  std::size_t depth_ = 0;
  bool ok_ = true;
};

std::uint64_t Shifted(std::uint8_t operation, std::uint64_t value, std::uint64_t by) {
  constexpr std::uint64_t kBits = 64;
  switch (operation) {
    case kOpShl:
      return by < kBits ? value << by : 0;
    case kOpShr:
      return by < kBits ? value >> by : 0;
    default:
      return Widened(Signed(value) >> (by < kBits ? by : kBits - 1));
  }
}

bool IsBinary(std::uint8_t operation) {
  return operation == kOpAnd || operation == kOpMinus || operation == kOpMul ||
         (operation >= kOpOr && operation <= kOpXor && operation != kOpPlusUconst) ||
         (operation >= kOpEq && operation <= kOpNe);
}

// REQUIRES: IsBinary(operation).
std::uint64_t Binary(std::uint8_t operation, std::uint64_t left, std::uint64_t right) {
  switch (operation) {
    case kOpAnd:
      return left & right;
    case kOpMinus:
      return left - right;
    case kOpMul:
      return left * right;
    case kOpOr:
      return left | right;
    case kOpPlus:
      return left + right;
    case kOpXor:
      return left ^ right;
    case kOpEq:
      return left == right ? 1 : 0;
    case kOpNe:
      return left != right ? 1 : 0;
    case kOpGe:
      return Signed(left) >= Signed(right) ? 1 : 0;
    case kOpGt:
      return Signed(left) > Signed(right) ? 1 : 0;
    case kOpLe:
      return Signed(left) <= Signed(right) ? 1 : 0;
    case kOpLt:
      return Signed(left) < Signed(right) ? 1 : 0;
    default:
      return Shifted(operation, left, right);
  }
}

// Reads the constant that an operation pushes; returns false if it is not such an operation.
bool Constant(std::uint8_t operation, ByteCursor& cursor, std::uint64_t& value) {
  if (operation >= kOpLit0 && operation <= kOpLit31) {
    value = operation - std::uint64_t{kOpLit0};
    return true;
  }
  switch (operation) {
    case kOpConst1u:
      value = cursor.Read<std::uint8_t>();
      return true;
    case kOpConst1s:
      value = Widened(cursor.Read<std::int8_t>());
      return true;
    case kOpConst2u:
      value = cursor.Read<std::uint16_t>();
      return true;
    case kOpConst2s:
      value = Widened(cursor.Read<std::int16_t>());
      return true;
    case kOpConst4u:
      value = cursor.Read<std::uint32_t>();
      return true;
    case kOpConst4s:
      value = Widened(cursor.Read<std::int32_t>());
      return true;
    case kOpConst8u:
    case kOpConst8s:
      value = cursor.Read<std::uint64_t>();
      return true;
    case kOpConstu:
      value = cursor.Uleb128();
      return true;
    case kOpConsts:
      value = Widened(cursor.Sleb128());
      return true;
    default:
      return false;
  }
}

// Runs an operation that moves values or takes one; returns false if it is another operation or if
// memory cannot be read.
bool Unary(std::uint8_t operation, ByteCursor& cursor, StackMemory& memory, ValueStack& stack) {
  std::uint64_t value = 0;
  switch (operation) {
    case kOpNop:
      return true;
    case kOpDup:
      stack.Push(stack.Pick(0));
      return true;
    case kOpOver:
      stack.Push(stack.Pick(1));
      return true;
    case kOpPick:
      stack.Push(stack.Pick(cursor.Read<std::uint8_t>()));
      return true;
    case kOpDrop:
      stack.Pop();
      return true;
    case kOpDeref:
      if (!memory.Read(stack.Pop(), value)) return false;
      stack.Push(value);
      return true;
    case kOpNeg:
      stack.Push(0 - stack.Pop());
      return true;
    case kOpNot:
      stack.Push(~stack.Pop());
      return true;
    case kOpPlusUconst:
      stack.Push(stack.Pop() + cursor.Uleb128());
      return true;
    default:
      return false;
  }
}

bool PushRegister(std::uint8_t operation, ByteCursor& cursor, const Registers& registers,
                  ValueStack& stack) {
  if (operation != kOpBregx && (operation < kOpBreg0 || operation > kOpBreg31)) {
    return false;
  }
  const std::uint64_t number =
      operation == kOpBregx ? cursor.Uleb128() : operation - std::uint64_t{kOpBreg0};
  const std::int64_t offset = cursor.Sleb128();
  if (!registers.Has(static_cast<std::size_t>(number))) return false;
  stack.Push(registers[static_cast<std::size_t>(number)] + Widened(offset));
  return true;
}

}  // namespace

std::optional<std::uint64_t> EvaluateExpression(std::span<const std::uint8_t> expression,
                                                const Registers& registers, StackMemory& memory,
                                                std::optional<std::uint64_t> initial) {
  if (expression.size() > kMostExpressionBytes) return std::nullopt;
  ByteCursor cursor(expression);
  ValueStack stack;
  if (initial) stack.Push(*initial);
  while (cursor.left() > 0) {
    const auto operation = cursor.Read<std::uint8_t>();
    std::uint64_t value = 0;
    if (Constant(operation, cursor, value)) {
      stack.Push(value);
    } else if (IsBinary(operation)) {
      const std::uint64_t right = stack.Pop();
      const std::uint64_t left = stack.Pop();
      stack.Push(Binary(operation, left, right));
    } else if (!PushRegister(operation, cursor, registers, stack) &&
               !Unary(operation, cursor, memory, stack)) {
      return std::nullopt;
    }
    if (!stack.ok() || !cursor.ok()) return std::nullopt;
  }
  const std::uint64_t result = stack.Pop();
  if (!stack.ok()) return std::nullopt;
  return result;
}

}  // namespace fieldcost::unwind

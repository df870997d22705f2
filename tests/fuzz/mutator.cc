#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>

namespace fieldcost::fuzz {

void Change::FlipBit() {
  if (input_.empty()) return;
  char& byte = input_[Below(input_.size())];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << Below(8)));
}

void Change::SetByte() {
  if (!input_.empty()) input_[Below(input_.size())] = static_cast<char>(Below(256));
}

std::uint64_t Change::BoundaryInteger() {
  // Half of the time, choose a boundary of an integer type.
  const std::uint64_t bit = Below(2) == 0 ? Below(64) : 8 * (1 + Below(8)) - Below(2);
  const std::uint64_t power = std::uint64_t{1} << bit % 64;
  switch (Below(5)) {
    case 0:
      return 0;
    case 1:
      return UINT64_MAX - Below(3);
    case 2:
      return power - 1;
    case 3:
      return power + 1;
    default:
      return power;
  }
}

void Change::SetInteger() {
  const std::size_t size = std::size_t{1} << Below(4);
  if (input_.size() < size) return;
  const std::size_t at = Below(input_.size() - size + 1);
  const std::uint64_t value = BoundaryInteger();
  const bool is_big_endian = Below(2) == 0;
  for (std::size_t i = 0; i < size; ++i) {
    input_[at + (is_big_endian ? size - 1 - i : i)] = static_cast<char>(value >> (8 * i));
  }
}

void Change::ReplaceDigits() {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t start = input_.empty() ? 0 : Below(input_.size());
  const std::size_t at = input_.find_first_of(kDigits, start);
  if (at == std::string::npos) return SetInteger();
  const std::size_t end = std::min(input_.find_first_not_of(kDigits, at), input_.size());
  std::string number = std::to_string(BoundaryInteger());
  if (Below(8) == 0) number.insert(0, "-");
  if (Below(8) == 0) number += number;  // exceeds 64 bits
  input_.replace(at, end - at, number);
}

void Change::Truncate() {
  if (!input_.empty()) input_.resize(Below(input_.size()));
}

void Change::InsertBytes() {
  const std::size_t at = Below(input_.size() + 1);
  const std::size_t size = 1 + Below(Below(8) == 0 ? 4096 : 16);
  std::string bytes(size, static_cast<char>(Below(256)));
  if (Below(2) == 0) {
    for (char& byte : bytes) byte = static_cast<char>(Below(256));
  }
  input_.insert(at, bytes);
}

Change::Piece Change::PieceOf(std::string_view text) {
  if (text.empty()) return {0, 0};
  const std::size_t at = Below(text.size());
  // Prefer short pieces: these are fields, and long ones are records.
  const std::size_t most = std::min<std::size_t>(text.size() - at, Below(4) == 0 ? 4096 : 16);
  return {at, 1 + Below(most)};
}

void Change::RemovePiece() {
  const Piece piece = PieceOf(input_);
  input_.erase(piece.at, piece.size);
}

void Change::RepeatPiece() {
  const Piece piece = PieceOf(input_);
  const std::string bytes = input_.substr(piece.at, piece.size);
  const std::uint64_t times = Below(8) == 0 ? 1 + Below(1000) : 1;
  std::string more;
  for (std::uint64_t i = 0; i < times && more.size() < kMaxInputBytes; ++i) more += bytes;
  input_.insert(piece.at, more);
}

void Change::MovePiece() {
  const Piece piece = PieceOf(input_);
  const std::string bytes = input_.substr(piece.at, piece.size);
  input_.erase(piece.at, piece.size);
  input_.insert(Below(input_.size() + 1), bytes);
}

void Change::TakePieceOf(std::string_view other) {
  const Piece piece = PieceOf(other);
  const std::size_t at = Below(input_.size() + 1);
  const std::size_t replaced = Below(2) == 0 ? 0 : std::min(piece.size, input_.size() - at);
  input_.replace(at, replaced, other.substr(piece.at, piece.size));
}

void Change::Splice(std::string_view other) {
  input_.resize(Below(input_.size() + 1));
  input_ += other.substr(Below(other.size() + 1));
}

std::string Mutator::Input(std::uint64_t number) const {
  std::seed_seq sequence{seed_, seed_ >> 32U, number, number >> 32U};
  std::mt19937_64 random(sequence);
  std::string input = entries_[random() % entries_.size()];
  Change change(input, random);
  constexpr std::array kChanges = {
      &Change::FlipBit,       &Change::SetByte,     &Change::SetInteger,
      &Change::ReplaceDigits, &Change::Truncate,    &Change::InsertBytes,
      &Change::RemovePiece,   &Change::RepeatPiece, &Change::MovePiece};
  constexpr std::array kChangesOfTwo = {&Change::TakePieceOf, &Change::Splice};
  for (std::uint64_t left = 1 + random() % kMaxChanges; left > 0; --left) {
    const std::uint64_t kind = random() % (kChanges.size() + kChangesOfTwo.size());
    if (kind < kChanges.size()) {
      (change.*kChanges[kind])();
    } else {
      const std::string& other = entries_[random() % entries_.size()];
      (change.*kChangesOfTwo[kind - kChanges.size()])(other);
    }
    if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
  }
  return input;
}

}  // namespace fieldcost::fuzz

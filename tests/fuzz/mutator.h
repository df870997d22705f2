#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::fuzz {

inline constexpr std::size_t kMaxInputBytes = std::size_t{64} << 10U;
inline constexpr unsigned kMaxChanges = 8;  // per input

// Derives inputs from the entries of a corpus: flipped bits, boundary integers in binary and in
// digits, truncations, and pieces that are inserted, removed, repeated, moved, or taken from
// another entry. Input number N depends only on the corpus, the seed and N, not on machine or
// compiler.
class Mutator {
 public:
  // REQUIRES: `entries` is not empty.
  Mutator(std::vector<std::string> entries, std::uint64_t seed)
      : entries_(std::move(entries)), seed_(seed) {}

  std::string Input(std::uint64_t number) const;

 private:
  std::vector<std::string> entries_;
  std::uint64_t seed_;
};

// Applies one change to an input.
class Change {
 public:
  Change(std::string& input, std::mt19937_64& random) : input_(input), random_(random) {}

  void FlipBit();
  void SetByte();
  void SetInteger();     // of 1, 2, 4 or 8 bytes, in either byte order
  void ReplaceDigits();  // a number in text; sets an integer if there is none
  void Truncate();
  void InsertBytes();
  void RemovePiece();
  void RepeatPiece();
  void MovePiece();
  void TakePieceOf(std::string_view other);  // inserted, or written over existing bytes
  void Splice(std::string_view other);       // the beginning of this one and the end of `other`

 private:
  struct Piece {
    std::size_t at;
    std::size_t size;
  };
  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }
  Piece PieceOf(std::string_view text);  // not empty unless the text is
  std::uint64_t BoundaryInteger();

  std::string& input_;
  std::mt19937_64& random_;
};

}  // namespace fieldcost::fuzz

#pragma once

// Turns numbers and texts into evenly spread bits, identically with every compiler and library. Not
// for secrets. No C++ runtime.

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::shm {

// The finaliser of SplitMix64: a bijection in which each input bit affects all output bits. Maps 0
// to 0.
constexpr uint64_t FinaliseBits(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// SplitMix64 (Steele, Lea, Flood 2014): generates a sequence from one random number.
constexpr uint64_t NextRandom(uint64_t* state) {
  return FinaliseBits(*state += 0x9e3779b97f4a7c15);
}

// The first number of that sequence: a bijection that does not map 0 to 0.
constexpr uint64_t MixBits(uint64_t bits) { return NextRandom(&bits); }

// FNV-1a, 64 bits: the hash of the empty text, and one step (`part` is a byte when hashing bytes).
inline constexpr uint64_t kEmptyHash = 0xcbf29ce484222325;
constexpr uint64_t AddToHash(uint64_t hash, uint64_t part) { return (hash ^ part) * 0x100000001b3; }

// Hash a zero-terminated text, bytes, or a number (lowest byte first), continuing from `hash`.
constexpr uint64_t HashText(const char* text, uint64_t hash = kEmptyHash) {
  for (; *text != '\0'; ++text) hash = AddToHash(hash, static_cast<uint8_t>(*text));
  return hash;
}
constexpr uint64_t HashBytes(const char* bytes, size_t size, uint64_t hash = kEmptyHash) {
  for (size_t i = 0; i < size; ++i) hash = AddToHash(hash, static_cast<uint8_t>(bytes[i]));
  return hash;
}
constexpr uint64_t HashNumber(uint64_t number, uint64_t hash = kEmptyHash) {
  for (unsigned shift = 0; shift < 64; shift += 8) hash = AddToHash(hash, (number >> shift) & 0xff);
  return hash;
}

}  // namespace fieldcost::shm

#include "tests/victims/scopes_library.h"

namespace scopes {

Reader::Reader(int64_t seed) : seed_(seed) {}

int64_t Reader::Read(int64_t value) {
  seed_ += value;
  return seed_;
}

int64_t Reader::Read(double value) const { return seed_ + static_cast<int64_t>(value); }

int64_t Reader::ReadAll() const { return seed_; }

int64_t Writer::Read(const Reader& reader) {
  __asm__ volatile("" ::: "memory");
  return reader.ReadAll();
}

}  // namespace scopes

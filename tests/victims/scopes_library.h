#pragma once

#include <stdint.h>

// A C++ library whose functions users name with their scopes.

#define SCOPES_API __attribute__((visibility("default"), noinline))

namespace scopes {

class Reader {
 public:
  SCOPES_API explicit Reader(int64_t seed);
  SCOPES_API int64_t Read(int64_t value);
  SCOPES_API int64_t Read(double value) const;
  SCOPES_API int64_t ReadAll() const;

 private:
  int64_t seed_;
};

class Writer {
 public:
  SCOPES_API int64_t Read(const Reader& reader);
};

}  // namespace scopes

#include "common/crypto/random.h"

#include <openssl/rand.h>

#include <cstring>
#include <limits>

#include "common/base/check.h"

namespace fieldcost::crypto {

std::string RandomBytes(std::size_t count) {
  FIELDCOST_CHECK(count <= std::size_t{std::numeric_limits<int>::max()});
  std::string bytes(count, '\0');
  FIELDCOST_CHECK(
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

std::uint64_t RandomUint64() {
  std::uint64_t value = 0;
  const std::string bytes = RandomBytes(sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace fieldcost::crypto

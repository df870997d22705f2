#include "common/crypto/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <limits>

#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::crypto {
namespace {

const unsigned char* HashInput(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  unsigned char digest[kSha256Bytes];
  FIELDCOST_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_sha256(), nullptr) ==
                  1);
  return std::string(reinterpret_cast<const char*>(digest), sizeof digest);
}

std::string HexSha256(std::string_view bytes) { return HexEncode(Sha256(bytes)); }

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    FIELDCOST_CHECK(context != nullptr);
    FIELDCOST_CHECK(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::Update(std::string_view bytes) {
  FIELDCOST_CHECK(state_ != nullptr);
  FIELDCOST_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::Finish() {
  FIELDCOST_CHECK(state_ != nullptr);
  unsigned char digest[kSha256Bytes];
  FIELDCOST_CHECK(EVP_DigestFinal_ex(state_->context, digest, nullptr) == 1);
  state_.reset();
  return std::string(reinterpret_cast<const char*>(digest), sizeof digest);
}

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  FIELDCOST_CHECK(key.size() <= std::size_t{std::numeric_limits<int>::max()});
  // OpenSSL takes a null key to mean "the key of the last call", so an empty key needs an address.
  const char* key_address = key.empty() ? "" : key.data();
  unsigned char digest[kSha256Bytes];
  FIELDCOST_CHECK(HMAC(EVP_sha256(), key_address, static_cast<int>(key.size()), HashInput(bytes),
                       bytes.size(), digest, nullptr) != nullptr);
  return std::string(reinterpret_cast<const char*>(digest), sizeof digest);
}

}  // namespace fieldcost::crypto

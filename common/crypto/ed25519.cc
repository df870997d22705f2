#include "common/crypto/ed25519.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/random.h"

namespace fieldcost::crypto {
namespace {

constexpr std::size_t kSignatureBytes = 64;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeKey>;
using ContextHandle = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

KeyHandle PrivateHandle(const std::array<std::uint8_t, 32>& seed) {
  KeyHandle key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  FIELDCOST_CHECK(key != nullptr);
  return key;
}

}  // namespace

std::string PublicKey::Hex() const { return HexEncode(bytes); }

std::string_view PublicKey::view() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<PublicKey> ParsePublicKey(std::string_view untrusted_hex) {
  const std::optional<std::string> raw = HexDecode(untrusted_hex);
  PublicKey key;
  if (!raw || raw->size() != key.bytes.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "parse public key: expected 64 hexadecimal digits, got {} characters",
                untrusted_hex.size());
  }
  std::copy(raw->begin(), raw->end(), key.bytes.begin());
  return key;
}

PrivateKey::~PrivateKey() { OPENSSL_cleanse(seed_.data(), seed_.size()); }

PrivateKey PrivateKey::Generate() {
  std::string seed = RandomBytes(32);
  PrivateKey key = FromSeed(seed);
  OPENSSL_cleanse(seed.data(), seed.size());
  return key;
}

PrivateKey PrivateKey::FromSeed(std::string_view seed) {
  PrivateKey key;
  FIELDCOST_CHECK(seed.size() == key.seed_.size());
  std::copy(seed.begin(), seed.end(), key.seed_.begin());
  std::size_t size = key.public_key_.bytes.size();
  FIELDCOST_CHECK(EVP_PKEY_get_raw_public_key(PrivateHandle(key.seed_).get(),
                                              key.public_key_.bytes.data(), &size) == 1);
  return key;
}

std::string PrivateKey::Sign(std::string_view message) const {
  const KeyHandle key = PrivateHandle(seed_);
  const ContextHandle context(EVP_MD_CTX_new());
  FIELDCOST_CHECK(context != nullptr);
  FIELDCOST_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  FIELDCOST_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                 &size, Bytes(message), message.size()) == 1);
  FIELDCOST_CHECK(size == kSignatureBytes);
  return signature;
}

bool Verify(const PublicKey& key, std::string_view message, std::string_view untrusted_signature) {
  if (untrusted_signature.size() != kSignatureBytes) return false;
  const KeyHandle handle(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const ContextHandle context(EVP_MD_CTX_new());
  FIELDCOST_CHECK(handle != nullptr && context != nullptr);
  FIELDCOST_CHECK(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) ==
                  1);
  return EVP_DigestVerify(context.get(), Bytes(untrusted_signature), untrusted_signature.size(),
                          Bytes(message), message.size()) == 1;
}

}  // namespace fieldcost::crypto

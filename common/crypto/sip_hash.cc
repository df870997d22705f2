#include "common/crypto/sip_hash.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>

#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::crypto {
namespace {

constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kHashBytes = 8;

}  // namespace

struct SipHash::State {
  State() {
    EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
    FIELDCOST_CHECK(algorithm != nullptr);
    context = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    FIELDCOST_CHECK(context != nullptr);
    std::size_t size = kHashBytes;
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                     OSSL_PARAM_construct_end()};
    FIELDCOST_CHECK(EVP_MAC_CTX_set_params(context, parameters) == 1);
  }
  ~State() { EVP_MAC_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MAC_CTX* context = nullptr;
  std::array<unsigned char, kKeyBytes> key{};
};

SipHash::SipHash(std::string_view key) : state_(std::make_unique<State>()) { SetKey(key); }
SipHash::~SipHash() = default;
SipHash::SipHash(SipHash&&) noexcept = default;
SipHash& SipHash::operator=(SipHash&&) noexcept = default;

void SipHash::SetKey(std::string_view key) {
  FIELDCOST_CHECK(key.size() == kKeyBytes);
  key.copy(reinterpret_cast<char*>(state_->key.data()), kKeyBytes);
}

std::uint64_t SipHash::operator()(std::string_view bytes) {
  std::array<unsigned char, kHashBytes> hash{};
  std::size_t size = 0;
  FIELDCOST_CHECK(
      EVP_MAC_init(state_->context, state_->key.data(), kKeyBytes, nullptr) == 1 &&
      EVP_MAC_update(state_->context, reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size()) == 1 &&
      EVP_MAC_final(state_->context, hash.data(), &size, hash.size()) == 1 && size == kHashBytes);
  return ReadLittleEndian({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

}  // namespace fieldcost::crypto

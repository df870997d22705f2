#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace fieldcost::http {

// Frees OpenSSL's objects, each by its own function.
struct FreeWithOpenssl {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BIO* bytes) const { BIO_free(bytes); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, FreeWithOpenssl>;

}  // namespace fieldcost::http

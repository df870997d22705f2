#include "common/http/issue_certificate.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/http/ip_address.h"
#include "common/http/openssl_owned.h"
#include "common/http/tls.h"

namespace fieldcost::http {
namespace {

constexpr int kSerialBits = 128;
constexpr std::size_t kMaxDnsNameBytes = 253;    // RFC 1035
constexpr std::size_t kMaxCommonNameBytes = 64;  // RFC 5280, ub-common-name

using Extensions = std::vector<std::pair<int, std::string>>;

struct Subject {
  std::string common_name;
  Extensions extensions;
};

Error Failed(std::string_view step) {
  return Fail(ErrorCode::kInternal, "issue a certificate: {}: {}", step, OpensslError());
}

bool IsCertificateName(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  if (name.empty() || name.size() > kMaxDnsNameBytes || name.starts_with('.') ||
      name.starts_with('-') || name.find("..") != std::string_view::npos) {
    return false;
  }
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '.'; });
}

// The names in the text form of the extension. Commas separate them, so a name cannot contain one.
Result<std::string> AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const bool is_address = ParseIpAddress(name).has_value();
    if (!is_address && !IsCertificateName(name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "issue a certificate for '{}': that is neither a host name nor an address, "
                  "without scheme and port",
                  EscapeControl(name));
    }
    text += (text.empty() ? "" : ",") + std::string(is_address ? "IP:" : "DNS:") + name;
  }
  if (!text.empty()) return text;
  return Fail(ErrorCode::kInvalidArgument, "issue a certificate: no host name is given");
}

Owned<EVP_PKEY> MakeKey() {
  return Owned<EVP_PKEY>(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
}

bool SetSerial(X509* certificate) {
  const Owned<BIGNUM> number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetTimes(X509* certificate, std::chrono::sys_seconds now, std::chrono::days lifetime) {
  const auto begin = now - std::chrono::days(1);
  const auto end = now + lifetime;
  return ASN1_TIME_set(X509_getm_notBefore(certificate), begin.time_since_epoch().count()) !=
             nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), end.time_since_epoch().count()) != nullptr;
}

bool SetSubject(X509* certificate, const std::string& name) {
  const std::string text = name.substr(0, kMaxCommonNameBytes);
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool AddExtensions(X509* certificate, X509* issuer, const Extensions& extensions) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [id, value] : extensions) {
    const Owned<X509_EXTENSION> extension(
        X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return false;
  }
  return true;
}

// `issuer` is null for a self-signed certificate.
Result<Owned<X509>> Make(const Subject& subject, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key,
                         std::chrono::sys_seconds now, std::chrono::days lifetime) {
  Owned<X509> made(X509_new());
  if (!made || X509_set_version(made.get(), X509_VERSION_3) != 1 || !SetSerial(made.get()) ||
      !SetTimes(made.get(), now, lifetime) || !SetSubject(made.get(), subject.common_name)) {
    return Failed("set its subject and dates");
  }
  X509* const from = issuer == nullptr ? made.get() : issuer;
  if (X509_set_issuer_name(made.get(), X509_get_subject_name(from)) != 1 ||
      X509_set_pubkey(made.get(), key) != 1 ||
      !AddExtensions(made.get(), from, subject.extensions)) {
    return Failed("set its issuer, key and extensions");
  }
  if (X509_sign(made.get(), issuer_key, EVP_sha256()) == 0) return Failed("sign it");
  return made;
}

template <typename Write>
std::optional<std::string> Pem(Write write) {
  const Owned<BIO> sink(BIO_new(BIO_s_mem()));
  if (!sink || write(sink.get()) != 1) return std::nullopt;
  char* bytes = nullptr;
  // BIO_get_mem_data() is a macro with an old-style cast.
  const long size = BIO_ctrl(sink.get(), BIO_CTRL_INFO, 0, &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

std::optional<std::string> PemOf(X509* certificate) {
  return Pem([&](BIO* sink) { return PEM_write_bio_X509(sink, certificate); });
}

}  // namespace

Result<IssuedCertificate> IssueCertificate(const std::vector<std::string>& names,
                                           std::chrono::sys_seconds now,
                                           std::chrono::days lifetime) {
  FIELDCOST_ASSIGN(const std::string alternative_names, AlternativeNames(names));
  const Owned<EVP_PKEY> authority_key = MakeKey();
  const Owned<EVP_PKEY> key = MakeKey();
  if (!authority_key || !key) return Failed("make a key");
  const Subject authority_subject{
      .common_name = "fieldcost: authority of " + names.front(),
      .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                     {NID_key_usage, "critical,keyCertSign"},
                     {NID_subject_key_identifier, "hash"}}};
  const Subject subject{.common_name = names.front(),
                        .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                       {NID_key_usage, "critical,digitalSignature"},
                                       {NID_ext_key_usage, "serverAuth"},
                                       {NID_subject_key_identifier, "hash"},
                                       {NID_authority_key_identifier, "keyid"},
                                       {NID_subject_alt_name, alternative_names}}};
  FIELDCOST_ASSIGN(const Owned<X509> authority, Make(authority_subject, authority_key.get(),
                                                     nullptr, authority_key.get(), now, lifetime));
  FIELDCOST_ASSIGN(const Owned<X509> certificate,
                   Make(subject, key.get(), authority.get(), authority_key.get(), now, lifetime));
  auto authority_pem = PemOf(authority.get());
  auto certificate_pem = PemOf(certificate.get());
  auto key_pem = Pem([&](BIO* sink) {
    return PEM_write_bio_PrivateKey(sink, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  if (!authority_pem || !certificate_pem || !key_pem) return Failed("write it in PEM form");
  return IssuedCertificate{std::move(*authority_pem), std::move(*certificate_pem),
                           std::move(*key_pem)};
}

}  // namespace fieldcost::http

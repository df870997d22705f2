#include "common/http/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/time_text.h"
#include "common/base/units.h"
#include "common/http/http_message.h"
#include "common/http/ip_address.h"
#include "common/http/openssl_owned.h"
#include "common/http/tls.h"

namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxPemBytes = 1 * kMiB;

// The server's own certificate, then those of its authorities.
using Chain = std::vector<Owned<X509>>;

// A file that should contain PEM blocks, and its name in messages.
struct PemFile {
  std::string_view kind;  // "certificate", "private key"
  const std::filesystem::path& path;

  template <typename... Args>
  Error Bad(fmt::format_string<Args...> format, Args&&... args) const {
    return Fail(ErrorCode::kInvalidArgument, "{} {} {}", kind, path.string(),
                fmt::format(format, std::forward<Args>(args)...));
  }
};

Result<std::string> Read(const PemFile& file) {
  auto bytes = ReadFile(file.path, kMaxPemBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) {
    return file.Bad("is missing; put it there, or name another file");
  }
  if (!bytes && bytes.error().code == ErrorCode::kPermissionDenied) {
    return file.Bad(
        "cannot be read: permission denied; let the user that runs this program read it");
  }
  if (!bytes) return file.Bad("cannot be read: {}", bytes.error().message);
  if (bytes->find_first_not_of(" \t\r\n") == std::string::npos) {
    return file.Bad("is empty; it must hold a {} in PEM form", file.kind);
  }
  return bytes;
}

bool HasBlock(const std::string& bytes, std::string_view end_of_label) {
  for (std::size_t at = 0; (at = bytes.find("-----BEGIN ", at)) != std::string::npos; ++at) {
    const std::string line = bytes.substr(at, bytes.find('\n', at) - at);
    if (line.find(std::string(end_of_label) + "-----") != std::string::npos) return true;
  }
  return false;
}

// The error for a file with other content, which the message names if it is recognised.
Error WrongContent(const PemFile& file, const std::string& bytes, std::string_view other_label,
                   std::string_view other_kind) {
  if (HasBlock(bytes, other_label)) {
    return file.Bad("holds no {}, but a {}: have the two files been swapped?", file.kind,
                    other_kind);
  }
  return file.Bad("holds no {} in PEM form, which has a line \"-----BEGIN ...-----\"", file.kind);
}

Owned<BIO> View(const std::string& bytes) {
  return Owned<BIO>(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

// Prevents OpenSSL from asking for a passphrase on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

Result<Chain> ReadChain(const std::filesystem::path& path) {
  const PemFile file{.kind = "certificate", .path = path};
  FIELDCOST_ASSIGN(const std::string bytes, Read(file));
  if (!HasBlock(bytes, "CERTIFICATE")) {
    return WrongContent(file, bytes, "PRIVATE KEY", "private key");
  }
  const Owned<BIO> source = View(bytes);
  Chain chain;
  ERR_clear_error();
  while (X509* next = chain.empty()
                          ? PEM_read_bio_X509_AUX(source.get(), nullptr, NoPassphrase, nullptr)
                          : PEM_read_bio_X509(source.get(), nullptr, NoPassphrase, nullptr)) {
    chain.emplace_back(next);
  }
  const unsigned long ended = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(ended) == ERR_LIB_PEM && ERR_GET_REASON(ended) == PEM_R_NO_START_LINE;
  if (!chain.empty() && at_end) {
    ERR_clear_error();
    return chain;
  }
  return file.Bad("is damaged: {}; copy it again from where it was issued", OpensslError());
}

Result<Owned<EVP_PKEY>> ReadKey(const std::filesystem::path& path) {
  const PemFile file{.kind = "private key", .path = path};
  FIELDCOST_ASSIGN(const std::string bytes, Read(file));
  if (!HasBlock(bytes, "PRIVATE KEY")) {
    return WrongContent(file, bytes, "CERTIFICATE", "certificate");
  }
  if (HasBlock(bytes, "ENCRYPTED PRIVATE KEY") ||
      bytes.find("Proc-Type: 4,ENCRYPTED") != std::string::npos) {
    return file.Bad(
        "is encrypted, and the server cannot ask for a passphrase; store it without one");
  }
  ERR_clear_error();
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(View(bytes).get(), nullptr, NoPassphrase, nullptr));
  if (key) return key;
  return file.Bad("is damaged: {}; copy it again", OpensslError());
}

std::optional<std::chrono::sys_seconds> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

}  // namespace

Result<CertificateValidity> UseCertificate(SSL_CTX* context,
                                           const std::filesystem::path& certificate_file,
                                           const std::filesystem::path& private_key_file) {
  FIELDCOST_ASSIGN(const Chain chain, ReadChain(certificate_file));
  FIELDCOST_ASSIGN(const Owned<EVP_PKEY> key, ReadKey(private_key_file));
  const PemFile file{.kind = "certificate", .path = certificate_file};
  X509* const own = chain.front().get();
  const auto begin = TimeOf(X509_get0_notBefore(own));
  const auto end = TimeOf(X509_get0_notAfter(own));
  if (!begin || !end) return file.Bad("is damaged: it has no dates; have it issued again");
  ERR_clear_error();
  if (X509_check_private_key(own, key.get()) != 1) {
    ERR_clear_error();
    return Fail(ErrorCode::kInvalidArgument,
                "private key {} does not belong to certificate {}; use two that were made together",
                private_key_file.string(), certificate_file.string());
  }
  if (SSL_CTX_use_certificate(context, own) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return file.Bad("cannot be used: {}; have another one issued", OpensslError());
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    // SSL_CTX_add1_chain_cert() is a macro with an old-style cast.
    if (SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, chain[i].get()) != 1) {
      return file.Bad("cannot be used: certificate {} in it: {}", i + 1, OpensslError());
    }
  }
  return CertificateValidity{*begin, *end};
}

Result<CertificateValidity> CheckCertificate(const std::filesystem::path& certificate_file,
                                             const std::filesystem::path& private_key_file) {
  const Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Fail(ErrorCode::kInternal, "prepare TLS: {}", OpensslError());
  FIELDCOST_TRY(ConfigureTlsServer(context.get()));
  return UseCertificate(context.get(), certificate_file, private_key_file);
}

Result<std::vector<std::string>> CertificateNames(const std::filesystem::path& certificate_file) {
  FIELDCOST_ASSIGN(const Chain chain, ReadChain(certificate_file));
  const Owned<GENERAL_NAMES> found(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(chain.front().get(), NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    const ASN1_STRING* value = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    const std::span<const std::uint8_t> bytes(ASN1_STRING_get0_data(value),
                                              static_cast<std::size_t>(ASN1_STRING_length(value)));
    if (name->type == GEN_DNS) {
      names.push_back(LowerCase({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    } else if (const auto address = IpAddressOf(bytes)) {
      names.push_back(address->Text());
    }
  }
  return names;
}

bool IsCertifiedHost(std::string_view untrusted_host, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [untrusted_host](std::string_view name) {
    if (!name.starts_with("*.")) return EqualNames(untrusted_host, name);
    const std::size_t dot = untrusted_host.find('.');
    return dot != 0 && dot != std::string_view::npos &&
           EqualNames(untrusted_host.substr(dot), name.substr(1));
  });
}

std::string WhyNotValid(const CertificateValidity& certificate, std::chrono::sys_seconds now) {
  if (now > certificate.end) return "expired on " + MinuteText(certificate.end);
  if (now < certificate.begin) return "is not valid before " + MinuteText(certificate.begin);
  return "";
}

Status CheckReplacement(const CertificateValidity& in_force, const CertificateValidity& next,
                        std::chrono::sys_seconds now,
                        const std::filesystem::path& certificate_file) {
  const std::string why = WhyNotValid(next, now);
  if (why.empty()) return {};
  const bool is_better = next.end >= in_force.end;
  if (!WhyNotValid(in_force, now).empty() && is_better) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "certificate {} {}; the one in force stays, which is valid until {}; put a valid "
              "one there, with its key",
              certificate_file.string(), why, MinuteText(in_force.end));
}

}  // namespace fieldcost::http

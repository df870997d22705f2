#include "common/http/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <utility>

namespace fieldcost::http {
namespace {

constexpr unsigned char kAlpn[] = "\x08http/1.1";
constexpr unsigned kAlpnBytes = sizeof kAlpn - 1;

// OpenSSL's last error in words; empties its queue.
std::string LastError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS library error" : reason;
}

Error FileError(std::string_view action, const std::filesystem::path& path) {
  return Fail(ErrorCode::kInvalidArgument, "{} {}: {}", action, path.string(), LastError());
}

int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned in_size, void*) {
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_size, kAlpn, kAlpnBytes, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

Status ConfigureBoth(SSL_CTX* context) {
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1) {
    return Fail(ErrorCode::kInternal, "set TLS 1.3: {}", LastError());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return {};
}

}  // namespace

Status ConfigureTlsServer(SSL_CTX* context, const std::filesystem::path& certificate_file,
                          const std::filesystem::path& private_key_file) {
  FIELDCOST_TRY(ConfigureBoth(context));
  if (SSL_CTX_set_num_tickets(context, 0) != 1) {
    return Fail(ErrorCode::kInternal, "switch session tickets off: {}", LastError());
  }
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return FileError("use certificate", certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context, private_key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return FileError("use private key", private_key_file);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return FileError("match certificate with private key", private_key_file);
  }
  return {};
}

std::optional<std::chrono::sys_seconds> CertificateExpiry(const SSL_CTX* context) {
  const X509* certificate = SSL_CTX_get0_certificate(context);
  std::tm ends{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &ends) != 1) {
    return std::nullopt;
  }
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&ends)));
}

Result<std::vector<std::string>> CertificateNames(const std::filesystem::path& certificate_file) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(certificate_file.c_str(), "r"),
                                                       BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      file ? PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  if (!certificate) return FileError("use certificate", certificate_file);
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> found(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::vector<std::string> names;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    const ASN1_STRING* value = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    const std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                            static_cast<std::size_t>(ASN1_STRING_length(value)));
    if (name->type == GEN_DNS) {
      std::string& text = names.emplace_back(bytes);
      std::transform(text.begin(), text.end(), text.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    } else if (bytes.size() == sizeof(in_addr) || bytes.size() == sizeof(in6_addr)) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      ::inet_ntop(bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6, bytes.data(), text.data(),
                  text.size());
      names.emplace_back(text.data());
    }
  }
  return names;
}

Status ConfigureTlsClient(SSL_CTX* context, const std::filesystem::path& ca_file) {
  FIELDCOST_TRY(ConfigureBoth(context));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_set_alpn_protos(context, kAlpn, kAlpnBytes) != 0) {
    return Fail(ErrorCode::kInternal, "set ALPN: {}", LastError());
  }
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) {
      return Fail(ErrorCode::kInvalidArgument, "use the system's trust store: {}", LastError());
    }
  } else if (SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    return FileError("use CA file", ca_file);
  }
  return {};
}

Status ExpectServer(SSL* connection, const Origin& server) {
  bool done = false;
  if (server.is_address) {
    done = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), server.host.c_str()) == 1;
  } else {
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // SSL_set_tlsext_host_name() is a macro with an old-style cast; OpenSSL copies the name.
    done = SSL_set1_host(connection, server.host.c_str()) == 1 &&
           SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    const_cast<char*>(server.host.c_str())) == 1;
  }
  if (done) return {};
  return Fail(ErrorCode::kInvalidArgument, "expect a certificate for {}: {}", server.host,
              LastError());
}

std::string VerificationFailure(const SSL* connection) {
  const long result = SSL_get_verify_result(connection);
  return result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
}

}  // namespace fieldcost::http

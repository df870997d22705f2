#include "common/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <system_error>

namespace fieldcost::http {
namespace {

constexpr unsigned char kAlpn[] = "\x08http/1.1";
constexpr unsigned kAlpnBytes = sizeof kAlpn - 1;

Error FileError(std::string_view action, const std::filesystem::path& path) {
  return Fail(ErrorCode::kInvalidArgument, "{} {}: {}", action, path.string(), OpensslError());
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
    return Fail(ErrorCode::kInternal, "set TLS 1.3: {}", OpensslError());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return {};
}

}  // namespace

std::string OpensslError() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS library error" : reason;
}

Status ConfigureTlsServer(SSL_CTX* context) {
  FIELDCOST_TRY(ConfigureBoth(context));
  if (SSL_CTX_set_num_tickets(context, 0) != 1) {
    return Fail(ErrorCode::kInternal, "switch session tickets off: {}", OpensslError());
  }
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol, nullptr);
  return {};
}

Status ConfigureTlsClient(SSL_CTX* context, const std::filesystem::path& ca_file) {
  FIELDCOST_TRY(ConfigureBoth(context));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_set_alpn_protos(context, kAlpn, kAlpnBytes) != 0) {
    return Fail(ErrorCode::kInternal, "set ALPN: {}", OpensslError());
  }
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) {
      return Fail(ErrorCode::kInvalidArgument, "use the system's trust store: {}", OpensslError());
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
              OpensslError());
}

std::string VerificationFailure(const SSL* connection) {
  const long result = SSL_get_verify_result(connection);
  if (result == X509_V_OK) return "";
  std::string text = X509_verify_cert_error_string(result);
  const bool is_unknown_authority = result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                                    result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
                                    result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT;
  if (is_unknown_authority) {
    text +=
        "; if the server has an authority of its own, name the file of its certificate: ca_file "
        "= \"ca.pem\", or --ca-file ca.pem for `probe login`";
  }
  return text;
}

}  // namespace fieldcost::http

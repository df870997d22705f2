#include "tests/faults/network/tls_connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <csignal>

#include "common/base/check.h"

namespace fieldcost::faults {
namespace {

SSL_CTX* ClientContext() {
  static SSL_CTX* const context = [] {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    SSL_CTX* made = SSL_CTX_new(TLS_client_method());
    FIELDCOST_CHECK(made != nullptr);
    return made;
  }();
  return context;
}

}  // namespace

struct TlsConnection::State {
  State(std::uint16_t port, std::string_view source)
      : tcp(port, source), ssl(SSL_new(ClientContext())) {}
  ~State() { SSL_free(ssl); }
  http::RawConnection tcp;
  SSL* ssl;
};

TlsConnection::TlsConnection(std::uint16_t port, std::string_view source)
    : state_(std::make_unique<State>(port, source)) {
  FIELDCOST_CHECK(SSL_set_fd(state_->ssl, state_->tcp.fd()) == 1);
  FIELDCOST_CHECK(SSL_connect(state_->ssl) == 1);
}

TlsConnection::TlsConnection(TlsConnection&&) noexcept = default;
TlsConnection& TlsConnection::operator=(TlsConnection&&) noexcept = default;
TlsConnection::~TlsConnection() = default;

bool TlsConnection::Send(std::string_view bytes) {
  ERR_clear_error();
  return SSL_write(state_->ssl, bytes.data(), static_cast<int>(bytes.size())) > 0;
}

void TlsConnection::FinishSending() {
  ERR_clear_error();
  (void)SSL_shutdown(state_->ssl);
}

std::string TlsConnection::ReadSome(std::size_t max_bytes) {
  std::string bytes(max_bytes, '\0');
  ERR_clear_error();
  errno = 0;
  const int got = SSL_read(state_->ssl, bytes.data(), static_cast<int>(bytes.size()));
  FIELDCOST_CHECK(got > 0 || errno != EAGAIN);  // otherwise the peer was silent for half a minute
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::string TlsConnection::ReadToEnd() {
  std::string all;
  for (std::string part; !(part = ReadSome(65536)).empty();) all += part;
  return all;
}

int TlsConnection::fd() const { return state_->tcp.fd(); }

}  // namespace fieldcost::faults

#include "common/http/connections_core.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <string>
#include <utility>

#include "common/http/tls.h"

namespace fieldcost::http {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

Connections::Core::Core(ServerOptions server_options, Handler request_handler)
    : options(std::move(server_options)),
      handler(std::move(request_handler)),
      io(std::make_unique<asio::io_context>()),
      addresses({.max_connections = options.max_connections_per_address,
                 .requests_per_second = options.requests_per_second_per_address,
                 .request_burst = options.request_burst_per_address}),
      limits_addresses(!addresses.off()) {}

Connections::Core::~Core() = default;

bool Connections::Core::Heard(Session* session) {
  const MutexLock lock(mutex);
  Entry& entry = sessions.at(session);
  if (entry.silent) silent.erase(*entry.silent);
  entry.silent.reset();
  return entry.has_place;
}

Result<TlsSettings> LoadTls(const ServerOptions& options) {
  TlsSettings tls{.context = std::make_shared<ssl::context>(ssl::context::tls_server)};
  if (options.certificate_file.empty()) return tls;
  FIELDCOST_TRY(ConfigureTlsServer(tls.context->native_handle()));
  FIELDCOST_ASSIGN(tls.validity,
                   UseCertificate(tls.context->native_handle(), options.certificate_file,
                                  options.private_key_file));
  return tls;
}

Response TryLater(int status, std::chrono::seconds when, std::string_view why) {
  Response response = JsonError(status, Name(ErrorCode::kUnavailable), why);
  response.headers.emplace_back("Retry-After", std::to_string(when.count()));
  return response;
}

}  // namespace fieldcost::http

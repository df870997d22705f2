#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/http/origin.h"

// OpenSSL's types, declared here so that its headers are not needed.
struct ssl_ctx_st;
struct ssl_st;

namespace fieldcost::http {

// The TLS policy of both sides: version 1.3 only, no session tickets (they would let a server
// recognise an anonymous client), no renegotiation, ALPN "http/1.1". kInvalidArgument names the
// file that cannot be used.

// Does not load the certificate; certificate.h does.
Status ConfigureTlsServer(ssl_ctx_st* context);

// `ca_file` empty = the system's trust store.
Status ConfigureTlsClient(ssl_ctx_st* context, const std::filesystem::path& ca_file);

// Makes a connection require a certificate for `server`: a name (also sent as SNI) or an address.
Status ExpectServer(ssl_st* connection, const Origin& server);

// Returns OpenSSL's first error as text (later ones follow from it), and empties its queue.
std::string OpensslError();

// Why the peer's certificate was refused; "" if something else failed.
std::string VerificationFailure(const ssl_st* connection);

}  // namespace fieldcost::http

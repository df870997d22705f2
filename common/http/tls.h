#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/http/origin.h"

// OpenSSL's types, so that no other header of it is needed here.
struct ssl_ctx_st;
struct ssl_st;

namespace fieldcost::http {

// The TLS policy of both sides: version 1.3 only, no session tickets (they would let a server
// recognise an anonymous client), no renegotiation, ALPN "http/1.1". kInvalidArgument names the
// file that cannot be used.

// Leaves the certificate out: certificate.h has that.
Status ConfigureTlsServer(ssl_ctx_st* context);

// `ca_file` empty = the system's trust store.
Status ConfigureTlsClient(ssl_ctx_st* context, const std::filesystem::path& ca_file);

// Makes a connection demand a certificate for `server`: by name (and sends it as SNI) or address.
Status ExpectServer(ssl_st* connection, const Origin& server);

// OpenSSL's first error in words, of which the others are consequences; empties its queue.
std::string OpensslError();

// Why the peer's certificate was refused; "" if that is not what went wrong.
std::string VerificationFailure(const ssl_st* connection);

}  // namespace fieldcost::http

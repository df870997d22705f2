#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/http/origin.h"

// OpenSSL's types, so that no other header of it is needed here.
struct ssl_ctx_st;
struct ssl_st;

namespace fieldcost::http {

// The TLS policy of both sides: version 1.3 only, no session tickets (they would let a server
// recognise an anonymous client), no renegotiation, ALPN "http/1.1". kInvalidArgument names the
// file that cannot be used.

Status ConfigureTlsServer(ssl_ctx_st* context, const std::filesystem::path& certificate_file,
                          const std::filesystem::path& private_key_file);

// When the context's own certificate ends; nothing if it has none.
std::optional<std::chrono::sys_seconds> CertificateExpiry(const ssl_ctx_st* context);

// The names and addresses (shortest form) that the first certificate of the file is for, as a
// client asks for them, lower case; "*.example.org" stands for one label more.
Result<std::vector<std::string>> CertificateNames(const std::filesystem::path& certificate_file);

// `ca_file` empty = the system's trust store.
Status ConfigureTlsClient(ssl_ctx_st* context, const std::filesystem::path& ca_file);

// Makes a connection demand a certificate for `server`: by name (and sends it as SNI) or address.
Status ExpectServer(ssl_st* connection, const Origin& server);

// Why the peer's certificate was refused; "" if that is not what went wrong.
std::string VerificationFailure(const ssl_st* connection);

}  // namespace fieldcost::http

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/http/server.h"

namespace fieldcost::serve {

// What a server's start needs of the machine, tried without making or keeping anything. Errors name
// what was tried, on what, why it failed, and what to do.

// Adds to an error what to do about it.
Error Advise(Error error, std::string_view what_to_do);

// The path itself, absolute, or the nearest above it that exists: where a start would make it.
std::filesystem::path NearestExisting(const std::filesystem::path& path);

// Whether this user may make files in the directory. `use` says what for, "as data directory", and
// `setting` where the configuration names it.
Status CheckWritable(std::string_view use, const std::filesystem::path& directory,
                     std::string_view setting);

struct CertificateFound {
  std::string fact;  // "certificate FILE: until 2027-11-25 10:00 UTC, for a, b; its key …"
  std::string why_not_valid;  // as of http::WhyNotValid()
  bool names_anybody = false;
};
// Reads certificate and key. REQUIRES: the options name both.
Result<CertificateFound> CheckCertificate(const http::ServerOptions& options,
                                          std::chrono::sys_seconds now);

// "[server] 127.0.0.1 port 8443": the address of a table of the configuration.
std::string PlaceOf(const http::ServerOptions& options, std::string_view table);

// Whether a server could listen there: "[server] 127.0.0.1 port 8443: free". kAlreadyExists:
// something listens there.
Result<std::string> CheckPort(const http::ServerOptions& options, std::string_view table);

}  // namespace fieldcost::serve

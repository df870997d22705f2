#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/http/http_server.h"

namespace fieldcost::serve {

// Checks the machine before a server starts, without lasting changes. Errors state what was
// attempted, on what, why it failed, and what to do.

// Adds advice to an error.
Error Advise(Error error, std::string_view what_to_do);

// The absolute path itself, or its nearest existing ancestor, in which a start would create it.
std::filesystem::path NearestExisting(const std::filesystem::path& path);

// Checks that this user may create files in the directory. `use` is its purpose, "as data
// directory", and `setting` is where the configuration names it.
Status CheckWritable(std::string_view use, const std::filesystem::path& directory,
                     std::string_view setting);

struct CertificateFound {
  std::string fact;  // "certificate FILE: until 2027-11-25 10:00 UTC, for a, b; its key …"
  std::string why_not_valid;  // from http::WhyNotValid()
  bool names_anybody = false;
};
// Reads certificate and key. REQUIRES: the options name both.
Result<CertificateFound> CheckCertificate(const http::ServerOptions& options,
                                          std::chrono::sys_seconds now);

// "[server] 127.0.0.1 port 8443": the address set by a table of the configuration.
std::string PlaceOf(const http::ServerOptions& options, std::string_view table);

// Checks whether a server could listen there: "[server] 127.0.0.1 port 8443: free". kAlreadyExists:
// the port is in use.
Result<std::string> CheckPort(const http::ServerOptions& options, std::string_view table);

}  // namespace fieldcost::serve

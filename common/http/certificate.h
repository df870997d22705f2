#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

// OpenSSL's type, declared here so that no header of it is needed.
struct ssl_ctx_st;

namespace fieldcost::http {

// A server's certificate and its private key, in two files. Errors name the file, the problem and
// the remedy, because the reader's service does not start.

// The validity period of a certificate, both ends included.
struct CertificateValidity {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  friend bool operator==(const CertificateValidity&, const CertificateValidity&) = default;
};

// Loads the chain and the key (PEM, without a passphrase) into the context, even if they are not
// currently valid. kInvalidArgument: missing, unreadable, empty, of the wrong kind, damaged,
// refused by OpenSSL, or not a matching pair.
Result<CertificateValidity> UseCertificate(ssl_ctx_st* context,
                                           const std::filesystem::path& certificate_file,
                                           const std::filesystem::path& private_key_file);

// The same checks without a context.
Result<CertificateValidity> CheckCertificate(const std::filesystem::path& certificate_file,
                                             const std::filesystem::path& private_key_file);

// The names (lower case) and addresses (shortest form) for which the first certificate of the file
// is valid, as clients would request them; "*.example.org" stands for one more label.
Result<std::vector<std::string>> CertificateNames(const std::filesystem::path& certificate_file);

// Whether a host is among such names; upper and lower case are equal (RFC 6125 §6.4.3). Pure.
bool IsCertifiedHost(std::string_view untrusted_host, const std::vector<std::string>& names);

// "expired on 2026-11-22 10:00 UTC", "is not valid before ..."; "" if it is valid. Pure.
std::string WhyNotValid(const CertificateValidity& certificate, std::chrono::sys_seconds now);

// Whether a certificate may replace the one in force: if it is valid, or the old one is not valid
// either. kInvalidArgument. Pure.
Status CheckReplacement(const CertificateValidity& in_force, const CertificateValidity& next,
                        std::chrono::sys_seconds now,
                        const std::filesystem::path& certificate_file);

}  // namespace fieldcost::http

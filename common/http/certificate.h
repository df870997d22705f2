#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

// OpenSSL's type, so that no header of it is needed here.
struct ssl_ctx_st;

namespace fieldcost::http {

// A server's certificate and its private key, in two files. What is wrong with them is said in
// words, with the file and what to do: whoever reads that has a service that does not start.

// When a certificate may be used, both ends included.
struct CertificateValidity {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  friend bool operator==(const CertificateValidity&, const CertificateValidity&) = default;
};

// Loads the chain and the key (PEM, without a passphrase) into the context, whether they are valid
// now or not. kInvalidArgument: missing, unreadable, empty, not what it should be, damaged, refused
// by OpenSSL, or not a pair.
Result<CertificateValidity> UseCertificate(ssl_ctx_st* context,
                                           const std::filesystem::path& certificate_file,
                                           const std::filesystem::path& private_key_file);

// The same without a use for them.
Result<CertificateValidity> CheckCertificate(const std::filesystem::path& certificate_file,
                                             const std::filesystem::path& private_key_file);

// The names and addresses (shortest form) that the first certificate of the file is for, as a
// client asks for them, lower case; "*.example.org" stands for one label more.
Result<std::vector<std::string>> CertificateNames(const std::filesystem::path& certificate_file);

// "expired on 2026-11-22 10:00 UTC", "is not valid before ..."; "" if it is valid. Pure.
std::string WhyNotValid(const CertificateValidity& certificate, std::chrono::sys_seconds now);

// Whether a certificate may take the place of the one in force: if it is valid, or at least none
// that is valid has to go for it. kInvalidArgument. Pure.
Status CheckReplacement(const CertificateValidity& in_force, const CertificateValidity& next,
                        std::chrono::sys_seconds now,
                        const std::filesystem::path& certificate_file);

}  // namespace fieldcost::http

#include "aggregator/ingest/service_names.h"

#include <algorithm>

namespace fieldcost::ingest {
namespace {

// Matches as TLS clients match a certificate (RFC 6125 §6.4.3).
bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.starts_with("*.")) return pattern == name;
  const std::size_t dot = name.find('.');
  return dot != 0 && dot != std::string_view::npos && name.substr(dot) == pattern.substr(1);
}

}  // namespace

void ServiceNames::Set(std::vector<std::string> names) {
  const WriterLock lock(mutex_);
  names_ = std::move(names);
}

bool ServiceNames::Has(std::string_view untrusted_name) const {
  const ReaderLock lock(mutex_);
  return std::any_of(names_.begin(), names_.end(), [untrusted_name](const std::string& name) {
    return Matches(name, untrusted_name);
  });
}

void ServiceRoots::Add(const std::vector<std::string>& fingerprints) {
  const WriterLock lock(mutex_);
  fingerprints_.insert(fingerprints.begin(), fingerprints.end());
}

bool ServiceRoots::Has(std::string_view untrusted_fingerprint) const {
  const ReaderLock lock(mutex_);
  return fingerprints_.contains(untrusted_fingerprint);
}

}  // namespace fieldcost::ingest

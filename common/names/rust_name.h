#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fieldcost::names {

// Names of Rust functions as their authors know them, without the parts that differ between builds
// (the hash of legacy names, the crate numbers of v0 names). Any bytes are accepted; time and
// memory are bounded by the limits in cxx_name.h. Thread-safe.

// "demo::parser::parse" for a mangled name: "_RNvNtCs7hGsdLQN3KQ_4demo6parser5parse" (v0) or
// "_ZN4demo6parser5parse17h0123456789abcdefE" (legacy). nullopt if it is not a Rust name or exceeds
// a limit.
std::optional<std::string> DemangledRustName(std::string_view untrusted_symbol);

// The same for legacy names that a C++ demangler has processed, as other profilers write them:
// "_$LT$demo..Reader$u20$as$u20$demo..Source$GT$::next::h0123456789abcdef". If that fails, only
// removes the hash. Returns other names unchanged.
std::string WithoutRustEncoding(std::string_view untrusted_name);

}  // namespace fieldcost::names

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fieldcost::names {

// Names of Rust's functions as their authors know them, without what differs from build to build
// (the hash of names in the older scheme, numbers of crates in the newer one). Any bytes may come
// in; time and memory are bounded by the limits in cxx_name.h. Thread-safe.

// "demo::parser::parse" of a mangled name: "_RNvNtCs7hGsdLQN3KQ_4demo6parser5parse" (v0) or
// "_ZN4demo6parser5parse17h0123456789abcdefE" (legacy). nullopt if it is none of Rust, or past a
// limit.
std::optional<std::string> DemangledRustName(std::string_view untrusted_symbol);

// The same for names of the older scheme that a C++ demangler has read, as other profilers write
// them: "_$LT$demo..Reader$u20$as$u20$demo..Source$GT$::next::h0123456789abcdef". Such a hash alone
// is cut off, too. Other names as they are.
std::string WithoutRustEncoding(std::string_view untrusted_name);

}  // namespace fieldcost::names

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// Finds the symbols that a C++ name in source code may mean. Holds a hash of the last component and
// the symbol of each name: about 12 bytes and the symbol's length. Built once, then only read:
// thread-safe.
class CxxIndex {
 public:
  // Adds a symbol if it is a C++ function's or variable's. REQUIRES: Finish() was not called.
  void Add(std::string_view untrusted_symbol);
  void Finish();

  // Symbols of all overloads, ascending, at most kMaxOverloads. A name with scopes ("b::c") is that
  // of every symbol whose scopes end so. One without is that of the global namespace, or of one of
  // `used_namespaces`. REQUIRES: Finish() was called.
  std::vector<std::string> Find(std::string_view qualified,
                                const std::set<std::string, std::less<>>& used_namespaces) const;

  // As Find(), of every symbol that has scopes, whichever: what "x.name()" may call if nobody knows
  // what x is. (A symbol does not tell a class from a namespace.)
  std::vector<std::string> FindMembers(std::string_view name) const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t hash;
    std::uint32_t begin;  // in symbols_
    std::uint16_t size;
  };
  // Symbols of this last component whose scopes are `wanted`.
  template <typename Wanted>
  std::vector<std::string> FindIf(std::string_view last, const Wanted& wanted) const;

  std::vector<Entry> entries_;
  std::string symbols_;
  bool finished_ = false;
};

}  // namespace fieldcost::lsp

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// Finds the symbols that a C++ name in source code may mean, and the names that begin as what is
// typed. Holds each symbol, a hash of its last component, and the order of the names: about 20
// bytes and the symbol's length. Built once, then only read: thread-safe.
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

  // Whole names ("a::b::f") that begin so, ascending, each once however many overloads there are,
  // at most `limit`. Names that no source could hold (a destructor's) and such longer than
  // kMaxNameBytes are left out. REQUIRES: Finish() was called.
  std::vector<std::string> FindPrefix(std::string_view prefix, std::size_t limit) const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Place {  // in symbols_
    std::uint32_t begin;
    std::uint16_t size;
  };
  struct Entry {
    std::uint32_t hash;
    Place symbol;
  };
  // A name while the index is built.
  struct NewName {
    std::size_t begin;  // in new_names_text_
    std::size_t size;
    Place symbol;
  };
  std::string_view SymbolAt(Place place) const {
    return std::string_view(symbols_).substr(place.begin, place.size);
  }
  // Symbols of this last component whose scopes are `wanted`.
  template <typename Wanted>
  std::vector<std::string> FindIf(std::string_view last, const Wanted& wanted) const;

  std::vector<Entry> entries_;  // ascending by hash
  std::vector<Place> by_name_;  // one symbol of each name, ascending by the name
  std::string symbols_;
  std::vector<NewName> new_names_;  // empty once finished
  std::string new_names_text_;
  bool finished_ = false;
};

}  // namespace fieldcost::lsp

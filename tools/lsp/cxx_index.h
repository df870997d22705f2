#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// Finds the symbols that a C++ name in source code may refer to, and the names with a given prefix.
// Holds each symbol, a hash of its last component, and the order of the names: about 20 bytes plus
// the symbol's length. Immutable once built, and then thread-safe.
class CxxIndex {
 public:
  // Adds a symbol if it is a C++ function or variable. REQUIRES: Finish() was not called.
  void Add(std::string_view untrusted_symbol);
  void Finish();

  // Symbols of all overloads, ascending, at most kMaxOverloads. A name with scopes ("b::c") matches
  // every symbol whose scopes end this way. A name without scopes is looked up in the global
  // namespace and in `used_namespaces`. REQUIRES: Finish() was called.
  std::vector<std::string> Find(std::string_view qualified,
                                const std::set<std::string, std::less<>>& used_namespaces) const;

  // Like Find(), but for every symbol with any scopes: the candidates for "x.name()" if the type of
  // x is unknown. (A symbol does not distinguish a class from a namespace.)
  std::vector<std::string> FindMembers(std::string_view name) const;

  // Whole names ("a::b::f") with this prefix, ascending, once each regardless of overloads, at most
  // `limit`. Omits names that source code cannot contain (destructors) and names longer than
  // kMaxNameBytes. REQUIRES: Finish() was called.
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
  // Symbols with this last component whose scopes satisfy `wanted`.
  template <typename Wanted>
  std::vector<std::string> FindIf(std::string_view last, const Wanted& wanted) const;

  std::vector<Entry> entries_;  // ascending by hash
  std::vector<Place> by_name_;  // one symbol per name, ascending by name
  std::string symbols_;
  std::vector<NewName> new_names_;  // empty once finished
  std::string new_names_text_;
  bool finished_ = false;
};

}  // namespace fieldcost::lsp

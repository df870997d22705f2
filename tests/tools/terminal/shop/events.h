#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

// Library 1: events of a shop as text.
namespace shop::events {

using Attributes = std::map<std::string, std::string>;

template <typename Value>
struct Stamped {
  long at = 0;
  Value value;
};

// One sale: what was bought, and what is known of it.
using Sale = Stamped<std::pair<std::string, Attributes>>;

Sale MakeSale(int number);

// Templates whose instances have long names; all that are used live in this library.
template <typename Key, typename Value>
class Serializer {
 public:
  std::string ToText(const std::vector<Stamped<std::pair<Key, Value>>>& sales,
                     const std::map<Key, std::vector<std::pair<long, Key>>>& index) const;
};
extern template class Serializer<std::string, Attributes>;

// The time of each sale by what was bought.
std::map<std::string, std::vector<std::pair<long, std::string>>> IndexOf(
    const std::vector<Sale>& sales);

}  // namespace shop::events

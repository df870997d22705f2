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

// One sale: the article and its details.
using Sale = Stamped<std::pair<std::string, Attributes>>;

Sale MakeSale(int number);

// Templates whose instances have long names; all used instances are in this library.
template <typename Key, typename Value>
class Serializer {
 public:
  std::string ToText(const std::vector<Stamped<std::pair<Key, Value>>>& sales,
                     const std::map<Key, std::vector<std::pair<long, Key>>>& index) const;
};
extern template class Serializer<std::string, Attributes>;

// The time of each sale, by article.
std::map<std::string, std::vector<std::pair<long, std::string>>> IndexOf(
    const std::vector<Sale>& sales);

}  // namespace shop::events

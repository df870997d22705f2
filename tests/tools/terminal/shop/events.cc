#include "tests/tools/terminal/shop/events.h"

namespace shop::events {

Sale MakeSale(int number) {
  constexpr int kArticles = 16;
  Sale sale;
  sale.at = 1000L * number;
  sale.value.first = "article " + std::to_string(number % kArticles);
  sale.value.second = {{"till", std::to_string(number % 3)},
                       {"price", std::to_string(number * 7 % 1000)},
                       {"note", std::string(40, static_cast<char>('a' + number % 26))}};
  return sale;
}

template <typename Key, typename Value>
std::string Serializer<Key, Value>::ToText(
    const std::vector<Stamped<std::pair<Key, Value>>>& sales,
    const std::map<Key, std::vector<std::pair<long, Key>>>& index) const {
  std::string text;
  for (const auto& sale : sales) {
    text += std::to_string(sale.at) + " " + sale.value.first;
    for (const auto& [name, value] : sale.value.second) text += " " + name + "=" + value;
    text += "\n";
  }
  for (const auto& [key, times] : index) text += key + " " + std::to_string(times.size()) + "\n";
  return text;
}
template class Serializer<std::string, Attributes>;

std::map<std::string, std::vector<std::pair<long, std::string>>> IndexOf(
    const std::vector<Sale>& sales) {
  std::map<std::string, std::vector<std::pair<long, std::string>>> index;
  for (const Sale& sale : sales) {
    index[sale.value.first].emplace_back(sale.at, sale.value.second.at("price"));
  }
  return index;
}

}  // namespace shop::events

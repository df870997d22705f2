#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

// Library 2: stores compressed texts in a database in memory.
namespace shop::vault {

template <template <typename, typename> class Container>
class Compressor {
 public:
  std::string Pack(const Container<std::string, std::allocator<std::string>>& texts) const;
};
extern template class Compressor<std::vector>;

class Store {
 public:
  Store();
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // With -DSLOW, prepares its statement for each row.
  void Put(const std::string& name, const std::string& bytes);
  long Count();

 private:
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace shop::vault

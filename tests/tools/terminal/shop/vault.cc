#include "tests/tools/terminal/shop/vault.h"

#include <zlib.h>

#include <stdexcept>

namespace shop::vault {
namespace {

constexpr char kInsert[] = "insert into item(name, bytes) values(?, ?)";

void Check(int status) {
  if (status != SQLITE_OK && status != SQLITE_ROW && status != SQLITE_DONE) {
    throw std::runtime_error(sqlite3_errstr(status));
  }
}

}  // namespace

template <template <typename, typename> class Container>
std::string Compressor<Container>::Pack(
    const Container<std::string, std::allocator<std::string>>& texts) const {
  std::string all;
  for (const std::string& text : texts) all += text;
  uLongf size = compressBound(all.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(all.data()), all.size(), 6) != Z_OK) {
    throw std::runtime_error("cannot compress");
  }
  packed.resize(size);
  return packed;
}
template class Compressor<std::vector>;

Store::Store() {
  Check(sqlite3_open(":memory:", &database_));
  Check(sqlite3_exec(database_, "create table item(name text, bytes blob)", nullptr, nullptr,
                     nullptr));
#ifndef SLOW
  Check(sqlite3_prepare_v2(database_, kInsert, -1, &insert_, nullptr));
#endif
}

Store::~Store() {
  sqlite3_finalize(insert_);
  sqlite3_close(database_);
}

void Store::Put(const std::string& name, const std::string& bytes) {
#ifdef SLOW
  sqlite3_finalize(insert_);
  Check(sqlite3_prepare_v2(database_, kInsert, -1, &insert_, nullptr));
#endif
  const int size = static_cast<int>(bytes.size());
  Check(sqlite3_bind_text(insert_, 1, name.c_str(), -1, SQLITE_STATIC));
  Check(sqlite3_bind_blob(insert_, 2, bytes.data(), size, SQLITE_STATIC));
  Check(sqlite3_step(insert_));
  Check(sqlite3_reset(insert_));
}

long Store::Count() {
  sqlite3_stmt* count = nullptr;
  Check(sqlite3_prepare_v2(database_, "select count(*) from item", -1, &count, nullptr));
  Check(sqlite3_step(count));
  const long rows = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  return rows;
}

}  // namespace shop::vault

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/probe/event_batch.h"
#include "common/sqlite/sqlite.h"
#include "tests/aggregator/probe_server/event_batches.h"
#include "tests/aggregator/probe_server/server_fixture.h"

namespace fieldcost::testing {

// The program with batches of one event each, and direct access to its database.
class ProbeServerTest : public ServerTest {
 protected:
  http::Response SendBatch(const std::string& token, std::uint64_t sequence) {
    return SendBody(token, *probe::EncodeBatch(BatchOf(sequence, {.run = sequence})));
  }
  std::uint64_t Count(const std::filesystem::path& file, const std::string& sql) {
    auto database = sqlite::Database::Open(file, sqlite::Database::Access::kInspect,
                                           sqlite::Database::Pages::kChecked);
    EXPECT_TRUE(database.has_value());
    return database->QueryInt(sql).value_or(~std::uint64_t{0});
  }
  // Changes the database without the server's knowledge.
  void Execute(const char* sql) {
    auto opened = sqlite::Database::Open(database(), sqlite::Database::Access::kWrite,
                                         sqlite::Database::Pages::kChecked);
    ASSERT_TRUE(opened.has_value());
    EXPECT_TRUE(opened->Execute(sql));
  }
};

}  // namespace fieldcost::testing

// Commands about lab tables: merge, and the reading commands with --table.
#include "common/base/file.h"
#include "tests/common/wire/lab_samples.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessResult;

constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;

class LabTableTest : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }

  std::string Path(const std::string& name) const { return (home() / name).string(); }

  std::string Write(const std::string& name, const wire::LabTable& table) {
    const auto bytes = wire::EncodeLabTable(table);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    EXPECT_TRUE(WriteFileAtomically(Path(name), *bytes, 0600).has_value());
    return Path(name);
  }

  static std::string Bytes(const std::string& path) {
    return ReadFile(path, std::size_t{1} << 20).value_or("");
  }

  static std::string Json(const std::string& document, const std::string& expression) {
    const ProcessResult result = testing::RunProcess(
        {.arguments = {"python3", "-c",
                       "import json,sys; d=json.load(sys.stdin); print(" + expression + ",end='')"},
         .input = document});
    EXPECT_EQ(result.exit_status, 0) << result.errors << document;
    return result.output;
  }
};

TEST_F(LabTableTest, MergeAddsUpInAnyOrder) {
  const std::string a = Write("a.lab", wire::RandomLabTable(1));
  const std::string b = Write("b.lab", wire::RandomLabTable(2));
  const std::string c = Write("c.lab", wire::SampleLabTable());
  const ProcessResult merged = Cli({"merge", "-o", Path("all.lab"), a, b, c});
  EXPECT_EQ(merged.exit_status, 0) << merged.errors;
  EXPECT_THAT(merged.output, AllOf(HasSubstr("3 measurements, "), HasSubstr("all.lab\n")));
  const std::vector<wire::LabTable> tables = {wire::RandomLabTable(1), wire::RandomLabTable(2),
                                              wire::SampleLabTable()};
  const wire::LabTable sum = wire::MergeLabTables(tables).value();
  EXPECT_EQ(Bytes(Path("all.lab")), wire::EncodeLabTable(sum).value());
  // A sum is a table, too, and may be written over one of its parts.
  EXPECT_EQ(Cli({"merge", c, b, "--output", Path("some.lab")}).exit_status, 0);
  EXPECT_EQ(Cli({"merge", "-o", Path("some.lab"), Path("some.lab"), a}).exit_status, 0);
  EXPECT_EQ(Bytes(Path("some.lab")), Bytes(Path("all.lab")));
  // Readable by nobody else.
  EXPECT_EQ(std::filesystem::status(Path("all.lab")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LabTableTest, MergeSaysWhatIsInTheSum) {
  const std::string a = Write("a.lab", wire::SampleLabTable());
  const ProcessResult one = Cli({"merge", "-o", Path("one.lab"), a});
  EXPECT_EQ(one.output, "1 measurement, 3 APIs, 7 calls in " + Path("one.lab") + "\n");
  const std::string json = Cli({"merge", "-o", Path("one.lab"), a, "--json"}).output;
  EXPECT_EQ(Json(json, "d['file'], d['api_count'], d['calls'], len(d['parts'])"),
            Path("one.lab") + " 3 7 1");
  EXPECT_EQ(Json(json, "d['parts'][0]['name'], d['parts'][0]['runs'], d['parts'][0]['seed']"),
            "sqlite3 :memory: 11 7");
  EXPECT_EQ(Json(json, "d['parts'][0]['started'], d['parts'][0]['content_hash']"),
            "2026-01-01 00:00 UTC " + wire::SampleLabTable().parts[0].content_hash);
}

TEST_F(LabTableTest, MergeRefusesWhatWouldCountTwiceAndWhatIsNoTable) {
  const std::string a = Write("a.lab", wire::SampleLabTable());
  const std::string b = Write("b.lab", wire::RandomLabTable(2));
  ASSERT_EQ(Cli({"merge", "-o", Path("all.lab"), a, b}).exit_status, 0);
  const std::string before = Bytes(Path("all.lab"));
  const ProcessResult twice = Cli({"merge", "-o", Path("all.lab"), Path("all.lab"), a});
  EXPECT_EQ(twice.exit_status, kUsage);
  EXPECT_THAT(twice.errors, HasSubstr("measurement sqlite3 :memory: ("));
  EXPECT_EQ(Bytes(Path("all.lab")), before);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), a, a}).exit_status, kUsage);
  ASSERT_TRUE(WriteFileAtomically(Path("bad.lab"), before.substr(0, 40), 0600).has_value());
  const ProcessResult bad = Cli({"merge", "-o", Path("x.lab"), a, Path("bad.lab")});
  EXPECT_EQ(bad.exit_status, kCorrupt);
  EXPECT_THAT(bad.errors, HasSubstr("bad.lab"));
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), Path("none.lab")}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"merge", a, b}).exit_status, kUsage);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab")}).exit_status, kUsage);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), a, "--csv"}).exit_status, kUsage);
  EXPECT_FALSE(std::filesystem::exists(Path("x.lab")));
}

}  // namespace
}  // namespace fieldcost::cli

// Runs the key sequences of data/key_sequences.toml, which describes them.
#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/catalog_schema.h"
#include "common/config/toml_file.h"
#include "common/crypto/sha256.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

enum class Outcome { kAccepted, kRefused, kFrozen };

struct Step {
  std::vector<std::size_t> keys;
  std::uint32_t need = 0;
  std::vector<std::size_t> signers;
  std::vector<std::size_t> forgers;
  std::uint64_t version = 0;  // 0 = that of its place
  bool expired = false;
  Outcome outcome = Outcome::kAccepted;
};

struct Sequence {
  std::string role;  // "root", "timestamp" or "snapshot"
  std::string name;
  std::vector<Step> steps;
};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::size_t> Numbers(std::string_view list) {
  std::vector<std::size_t> numbers;
  for (const std::string_view number : Split(list, ',')) {
    numbers.push_back(ParseUint64(number).value());
  }
  return numbers;
}

Step ParseStep(std::string_view text) {
  Step step;
  for (const std::string_view word : Split(text, ' ')) {
    const std::size_t mark = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, mark);
    const std::string_view value = word.substr(std::min(mark + 1, word.size()));
    if (key == "keys") {
      step.keys = Numbers(value);
    } else if (key == "need") {
      step.need = static_cast<std::uint32_t>(Numbers(value).at(0));
    } else if (key == "signed") {
      step.signers = Numbers(value);
    } else if (key == "forged") {
      step.forgers = Numbers(value);
    } else if (key == "version") {
      step.version = Numbers(value).at(0);
    } else if (word == "expired") {
      step.expired = true;
    } else if (word == "refused") {
      step.outcome = Outcome::kRefused;
    } else if (word == "frozen") {
      step.outcome = Outcome::kFrozen;
    } else {
      FIELDCOST_CHECK(word == "accepted");
    }
  }
  return step;
}

std::vector<Sequence> LoadSequences() {
  auto file =
      config::TomlFile::Load(std::string(FIELDCOST_CATALOG_DATA_DIR) + "/key_sequences.toml");
  FIELDCOST_CHECK(file.has_value());
  std::vector<Sequence> sequences;
  for (const char* kind : {"root", "online"}) {
    for (std::size_t i = 0; i < file->CountTables(kind); ++i) {
      const std::string table = fmt::format("{}.{}.", kind, i);
      Sequence sequence;
      std::string deviation;
      std::vector<std::string> steps;
      file->ReadString(table + "name", sequence.name);
      file->ReadString(table + "deviation", deviation);
      file->ReadStrings(table + "steps", steps);
      for (const std::string& step : steps) sequence.steps.push_back(ParseStep(step));
      for (const char* role : {"root", "timestamp", "snapshot"}) {
        if ((role == std::string_view("root")) != (kind == std::string_view("root"))) continue;
        sequence.role = role;
        sequences.push_back(sequence);
      }
    }
  }
  const Status finished = file->Finish();
  FIELDCOST_CHECK(finished.has_value());
  return sequences;
}

class KeySequenceTest : public SyncTest, public ::testing::WithParamInterface<Sequence> {
 protected:
  KeySequenceTest() { publisher_.Publish(testing::MakeRows(4, 1000), 0, kNow); }

  static const crypto::PrivateKey& Key(std::size_t number) {
    static const std::vector<crypto::PrivateKey> keys = [] {
      std::vector<crypto::PrivateKey> made;
      for (int i = 0; i < 10; ++i) made.push_back(crypto::PrivateKey::Generate());
      return made;
    }();
    return keys.at(number);
  }
  static std::vector<crypto::PublicKey> PublicKeys(const std::vector<std::size_t>& numbers) {
    std::vector<crypto::PublicKey> keys;
    for (const std::size_t number : numbers) keys.push_back(Key(number).public_key());
    return keys;
  }

  // Signed files in sequence are one file with all their signatures and the last one's payload,
  // because they are protobuf messages. So a signature of a different payload is invalid.
  template <typename Metadata, typename Sign>
  static std::string Signed(const Step& step, const Metadata& metadata, Sign sign) {
    std::string bytes;
    Metadata other = metadata;
    ++other.version;
    for (const std::size_t key : step.forgers) bytes += sign(other, Key(key));
    for (const std::size_t key : step.signers) bytes += sign(metadata, Key(key));
    if (step.signers.empty()) bytes += WithoutSignatures(metadata);
    return bytes;
  }
  static std::string WithoutSignatures(const wire::RootMetadata& root) {
    return wire::SignRoot(root, {});
  }
  template <typename Metadata>
  static std::string WithoutSignatures(const Metadata& metadata);

  // Serves the step as version `place`.
  void ServeRoot(const Step& step, std::uint64_t place) {
    wire::RootMetadata root = publisher_.root;
    root.version = step.version != 0 ? step.version : place;
    root.root_keys = PublicKeys(step.keys);
    root.root_threshold = step.need;
    if (step.expired) root.expires = kNow - kDay;
    const auto sign = [](const wire::RootMetadata& metadata, const crypto::PrivateKey& key) {
      return wire::SignRoot(metadata, {key});
    };
    publisher_.Set(wire::RootVersionPath(place), Signed(step, root, sign));
  }
  void ServeOnline(const Step& step, std::uint64_t place) {
    wire::RootMetadata root = publisher_.root;
    root.version = place;
    const bool is_timestamp = GetParam().role == "timestamp";
    (is_timestamp ? root.timestamp_keys : root.snapshot_keys) = PublicKeys(step.keys);
    publisher_.PublishRoot(root, {publisher_.root_key});
    publisher_.Publish(testing::MakeRows(4, 1000), 0, kNow);
    if (is_timestamp) {
      publisher_.Set(wire::kTimestampPath,
                     Signed(step, publisher_.timestamp, &wire::SignTimestamp));
      return;
    }
    const std::string snapshot = Signed(step, publisher_.snapshot, &wire::SignSnapshot);
    publisher_.timestamp.snapshot_sha256 = crypto::Sha256(snapshot);
    publisher_.timestamp.snapshot_bytes = snapshot.size();
    publisher_.Set(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), snapshot);
    publisher_.ServeTimestamp();
  }

  Result<SyncReport> SyncClient(const std::string& name) {
    SyncOptions options = publisher_.Client(directory_.path());
    options.catalog_file = directory_.path() / name;
    options.full = true;
    return Sync(options, clock_);
  }
  std::uint64_t NewestRoot(const std::string& name) const {
    const auto database = OpenForReading(directory_.path() / name);
    const auto roots = LoadRoots(database.value());
    return roots->empty() ? 0 : roots->rbegin()->first;
  }
  void Expect(const Step& step, const std::string& client, std::uint64_t root_version) {
    const auto report = SyncClient(client);
    if (step.outcome == Outcome::kAccepted) {
      EXPECT_TRUE(report) << report.error().message;
    } else {
      ASSERT_FALSE(report);
      EXPECT_EQ(report.error().code, ErrorCode::kUnauthenticated) << report.error().message;
    }
    EXPECT_EQ(NewestRoot(client), root_version);
  }
};

template <typename Metadata>
std::string KeySequenceTest::WithoutSignatures(const Metadata& metadata) {
  // Signed by a key that no root lists.
  if constexpr (std::is_same_v<Metadata, wire::TimestampMetadata>) {
    return wire::SignTimestamp(metadata, Key(9));
  } else {
    return wire::SignSnapshot(metadata, Key(9));
  }
}

TEST_P(KeySequenceTest, EndsAsDescribed) {
  const Sequence& sequence = GetParam();
  ASSERT_GE(sequence.steps.size(), 2U);
  for (std::uint64_t place = 1; place <= sequence.steps.size(); ++place) {
    SCOPED_TRACE(fmt::format("step {}", place));
    const Step& step = sequence.steps[place - 1];
    const bool is_root = sequence.role == "root";
    if (is_root) {
      ServeRoot(step, place);
    } else {
      ServeOnline(step, place);
    }
    if (place == 1) {
      ASSERT_TRUE(WriteFileAtomically(publisher_.Client(directory_.path()).root_file,
                                      publisher_.Get(wire::RootVersionPath(1)), 0644));
    }
    const bool keeps_root = !is_root || step.outcome != Outcome::kRefused;
    Expect(step, "each_step", keeps_root ? place : place - 1);
    // A newcomer ends in the same place.
    Expect(step, fmt::format("newcomer_{}", place), keeps_root ? place : place - 1);
  }
}

TEST(KeySequencesTest, TheFileHasTheSuites25) {
  const std::vector<Sequence> sequences = LoadSequences();
  const auto count = [&](std::string_view role) {
    return std::count_if(sequences.begin(), sequences.end(),
                         [&](const Sequence& sequence) { return sequence.role == role; });
  };
  EXPECT_GE(count("root"), 15);
  EXPECT_GE(count("timestamp"), 10);
  EXPECT_EQ(count("timestamp"), count("snapshot"));
}

std::string NameOf(const ::testing::TestParamInfo<Sequence>& info) {
  std::string name = fmt::format("{:02}_{}_", info.index, info.param.role);
  for (const char c : info.param.name) {
    if (c == ' ') name += '_';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}

void PrintTo(const Sequence& sequence, std::ostream* out) { *out << sequence.name; }

INSTANTIATE_TEST_SUITE_P(File, KeySequenceTest, ::testing::ValuesIn(LoadSequences()), NameOf);

}  // namespace
}  // namespace fieldcost::catalog

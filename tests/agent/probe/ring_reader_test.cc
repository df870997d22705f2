#include "agent/probe/ring_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/agent/probe/ring_bytes.h"
#include "tests/support/golden_bytes.h"
#include "tests/support/temp_dir.h"

// Rings are untrusted: programs may leave anything in them.

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ProbeDataAt;
using testing::ProbeModuleAt;
using testing::ProbeRingAt;
using testing::ProbeSiteAt;
using testing::RingBytes;
using ::testing::SizeIs;
using testing::SmallRings;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kRing = shm::kProbeRingBytes;

class RingReaderTest : public ::testing::Test {
 protected:
  Result<RingFile> Opened(const RingBytes& bytes) {
    bytes.WriteTo(path_);
    return RingFile::Open(path_);
  }
  // The hits of its first ring; the error if it cannot be read.
  Result<std::vector<RingHit>> Hits(const RingBytes& bytes, std::size_t most = 1 << 20) {
    FIELDCOST_ASSIGN(const RingFile file, Opened(bytes));
    std::vector<RingHit> hits;
    FIELDCOST_ASSIGN(
        const RingFile::Progress progress,
        file.Read(0, file.tail(0), most, [&](const RingHit& hit) { hits.push_back(hit); }));
    (void)progress;
    return hits;
  }

  template <typename Part>
  static RingBytes Changed(std::uint64_t at, const std::function<void(Part&)>& change) {
    RingBytes bytes = SmallRings();
    Part part = bytes.Get<Part>(at);
    change(part);
    bytes.Put(at, part);
    return bytes;
  }

  testing::TempDir directory_{testing::kMemory};
  const std::filesystem::path path_ = directory_.path() / "4711.probe";
};

TEST_F(RingReaderTest, ASmallFileIsReadWhole) {
  const auto file = Opened(SmallRings());
  ASSERT_TRUE(file) << file.error().message;
  const RunFacts& facts = file->facts();
  EXPECT_EQ(facts.run, 0x1122334455667788U);
  EXPECT_EQ(facts.session, 7U);
  EXPECT_EQ(facts.program, "/usr/bin/gold");
  EXPECT_TRUE(facts.attached);
  EXPECT_TRUE(facts.ended);
  EXPECT_FALSE(file->IsBeingWritten());
  const auto hits = Hits(SmallRings());
  ASSERT_TRUE(file->Site(0));
  EXPECT_EQ(file->Site(0)->label, "data loaded");
  EXPECT_EQ(file->Site(0)->line, 12U);
  EXPECT_FALSE(file->Site(1));
  EXPECT_FALSE(file->Site(shm::kProbeSites));
  ASSERT_THAT(file->Modules(), SizeIs(1));
  EXPECT_EQ(file->Modules()[0].build_id, "\xab\xcd");
  std::vector<shm::ProbeKind> kinds;
  const auto progress = file->Read(0, 0, 100, [&](const RingHit& hit) {
    kinds.push_back(hit.kind);
    if (hit.kind != shm::kProbePoint) return;
    EXPECT_EQ(hit.value, 42U);
    EXPECT_EQ(hit.registers->ip, 0x401234U);
    EXPECT_THAT(hit.stack, ElementsAre(0x5152535455565758U, 2));
    EXPECT_EQ(facts.UnixNs(hit.ticks), facts.start_unix_ns + 200);
  });
  ASSERT_TRUE(progress);
  EXPECT_TRUE(progress->at_end);
  EXPECT_EQ(progress->position, 320U);
  EXPECT_THAT(kinds, ElementsAre(shm::kProbeBegin, shm::kProbePoint, shm::kProbeEnd));
}

TEST_F(RingReaderTest, ItsBytesAreTheGoldenOnes) {
  testing::ExpectGolden(std::filesystem::path(FIELDCOST_PROBE_GOLDEN_DIR) / "rings",
                        testing::GoldenLines(SmallRings()));
}

TEST_F(RingReaderTest, ReadsOnWhereItStopped) {
  const auto file = Opened(SmallRings());
  ASSERT_TRUE(file);
  std::uint64_t position = 0;
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 3; ++i) {
    const auto progress =
        file->Read(0, position, 1, [&](const RingHit& hit) { sequences.push_back(hit.sequence); });
    ASSERT_TRUE(progress);
    EXPECT_EQ(progress->at_end, i == 2);
    position = progress->position;
  }
  EXPECT_THAT(sequences, ElementsAre(1, 2, 3));
}

TEST_F(RingReaderTest, TheNextReaderSkipsReleasedRecords) {
  {
    auto file = Opened(SmallRings());
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->Release(0, 256));
    EXPECT_EQ(file->Release(0, 384).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(file->tail(0), 256U);
  }
  const auto next = RingFile::Open(path_);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->tail(0), 256U);
}

TEST_F(RingReaderTest, ARecordMayEndAtTheRingsEndAndGoOnAtItsBeginning) {
  RingBytes bytes = SmallRings();
  auto ring = bytes.Get<shm::ProbeRing>(ProbeRingAt(0));
  auto record = bytes.Get<shm::ProbeRecord>(ProbeDataAt(0, 0));
  // After a thousand rounds: a fill 128 bytes before the end, then a record at the beginning.
  ring.tail = 1001 * kRing - 128;
  ring.head = 1001 * kRing + 64;
  bytes.Put(ProbeRingAt(0), ring);
  bytes.Put(ProbeDataAt(0, 0), record);
  record.kind = shm::kProbeFill;
  record.size_bytes = 128;
  bytes.Put(ProbeDataAt(0, kRing - 128), record);
  const auto hits = Hits(bytes);
  ASSERT_TRUE(hits) << hits.error().message;
  EXPECT_THAT(*hits, SizeIs(1));
}

TEST_F(RingReaderTest, RefusesInvalidFiles) {
  using Header = shm::ProbeHeader;
  const std::vector<std::pair<ErrorCode, std::function<void(Header&)>>> cases = {
      {ErrorCode::kCorrupt, [](Header& header) { header.magic[3] = 'x'; }},
      {ErrorCode::kUnsupported, [](Header& header) { header.version = shm::kProbeVersion + 1; }},
      {ErrorCode::kUnavailable, [](Header& header) { header.complete = 0; }},
      {ErrorCode::kCorrupt, [](Header& header) { header.size_bytes = kMost; }},
      {ErrorCode::kCorrupt, [](Header& header) { header.run = 0; }},
      {ErrorCode::kCorrupt, [](Header& header) { header.session = 0; }},
      {ErrorCode::kCorrupt, [](Header& header) { header.tsc_to_ns_multiplier = kMost; }},
      {ErrorCode::kCorrupt,
       [](Header& header) { std::memset(header.program, 'x', sizeof header.program); }},
  };
  for (const auto& [code, change] : cases) {
    const auto file = Opened(Changed<Header>(0, change));
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, code) << file.error().message;
  }
  EXPECT_EQ(RingFile::Open(directory_.path() / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(RingFile::Open(directory_.path()).error().code, ErrorCode::kCorrupt);
  std::filesystem::create_symlink(path_, directory_.path() / "link");
  EXPECT_EQ(RingFile::Open(directory_.path() / "link").error().code, ErrorCode::kCorrupt);
}

// A ring that moved to its area: the last record before the move, and two after it.
TEST_F(RingReaderTest, ReadsOnInTheAreaOfARingThatGrew) {
  RingBytes bytes = SmallRings();
  const auto record = bytes.Get<shm::ProbeRecord>(ProbeDataAt(0, 0));
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{64}}) {
    bytes.Put(shm::ProbeAreasOffset() + 3 * shm::kProbeAreaBytes + place, record);
  }
  auto ring = bytes.Get<shm::ProbeRing>(ProbeRingAt(0));
  ring.area = 4;
  ring.grown_at = ring.head;
  ring.head += 128;
  bytes.Put(ProbeRingAt(0), ring);
  EXPECT_EQ(Opened(SmallRings())->room(0), shm::kProbeRingBytes);
  EXPECT_EQ(Opened(bytes)->room(0), shm::kProbeAreaBytes);
  const auto hits = Hits(bytes);
  ASSERT_TRUE(hits) << hits.error().message;
  EXPECT_THAT(*hits, SizeIs(5));
}

TEST_F(RingReaderTest, HostileAreasAreRefused) {
  struct Case {
    std::uint32_t area;
    std::uint64_t grown_at;
    std::uint64_t head;
  };
  for (const Case& each : {Case{shm::kProbeAreas + 1, 320, 384}, Case{~0U, 320, 384},
                           Case{1, 321, 384}, Case{1, 320, 320 + shm::kProbeAreaBytes + 64},
                           Case{1, kRing + 64, kRing + 128}, Case{1, kMost - 63, 384}}) {
    EXPECT_FALSE(Hits(Changed<shm::ProbeRing>(ProbeRingAt(0),
                                              [&](shm::ProbeRing& ring) {
                                                ring.area = each.area;
                                                ring.grown_at = each.grown_at;
                                                ring.head = each.head;
                                              })))
        << each.area << " " << each.grown_at;
  }
}

TEST_F(RingReaderTest, HostileHeadsAndTailsAreRefused) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> cases = {
      {0, kMost}, {0, kMost - 63}, {0, kRing + 64}, {64, 0},   {kMost - 63, 0x1000000},
      {1, 64},    {0, 321},        {0, 63},         {320, 64}, {kMost, kMost},
      {0, kRing}, {64, 320},       {0, 384},        {kRing, 0}};
  for (const auto& [tail, head] : cases) {
    const auto hits = Hits(Changed<shm::ProbeRing>(ProbeRingAt(0), [&](shm::ProbeRing& ring) {
      ring.tail = tail;
      ring.head = head;
    }));
    if (tail == 64 && head == 320) {
      EXPECT_TRUE(hits);
      continue;
    }
    ASSERT_FALSE(hits) << tail << " " << head;
    EXPECT_EQ(hits.error().code, ErrorCode::kCorrupt);
  }
}

TEST_F(RingReaderTest, HostileRecordsAreRefused) {
  using Record = shm::ProbeRecord;
  const std::vector<std::function<void(Record&)>> cases = {
      [](Record& record) { record.size_bytes = 0; },
      [](Record& record) { record.size_bytes = 63; },
      [](Record& record) { record.size_bytes = 65535; },
      [](Record& record) { record.size_bytes = 65472; },
      [](Record& record) { record.size_bytes = 128; },  // too small for its stack
      [](Record& record) { record.kind = 5; },
      [](Record& record) { record.kind = shm::kProbeFill; },  // not to the ring's end
      [](Record& record) { record.stack_bytes = 2048; },
      [](Record& record) { record.stack_bytes = 15; },
      [](Record& record) { record.flags = 0; },  // a stack without registers
      [](Record& record) { record.site = shm::kProbeSites; },
      [](Record& record) { record.event.run = 0; },
      [](Record& record) { record.sequence = 0; },
  };
  for (const auto& change : cases) {
    EXPECT_FALSE(Hits(Changed<Record>(ProbeDataAt(0, 64), change)));
  }
}

TEST_F(RingReaderTest, IgnoresHostileSitesAndModules) {
  using Site = shm::ProbeSite;
  for (const auto& change : std::vector<std::function<void(Site&)>>{
           [](Site& site) { site.label[0] = '\0'; },
           [](Site& site) { std::memset(site.label, 'x', sizeof site.label); },
           [](Site& site) { std::memset(site.file, 'x', sizeof site.file); },
           [](Site& site) { std::memset(site.function, 'x', sizeof site.function); },
           [](Site& site) { site.kind = 3; },
           [](Site& site) { site.automatic = 128; },
           [](Site& site) { site.complete = 0; },
       }) {
    const auto file = Opened(Changed<Site>(ProbeSiteAt(0), change));
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->Site(0));
  }
  using Module = shm::ProbeModule;
  for (const auto& change : std::vector<std::function<void(Module&)>>{
           [](Module& module) { module.complete = 0; },
           [](Module& module) { module.build_id_bytes = 33; },
           [](Module& module) { module.end = module.begin; },
           [](Module& module) { std::memset(module.path, 'x', sizeof module.path); },
       }) {
    const auto file = Opened(Changed<Module>(ProbeModuleAt(0), change));
    ASSERT_TRUE(file);
    EXPECT_THAT(file->Modules(), IsEmpty());
  }
}

// Programs may truncate their own files at any time.
TEST_F(RingReaderTest, AFileThatIsCutWhileItIsReadIsAnError) {
  auto file = Opened(SmallRings());
  ASSERT_TRUE(file);
  std::filesystem::resize_file(path_, ProbeDataAt(0, 100));
  EXPECT_FALSE(file->Read(0, 0, 100, [](const RingHit&) {}));
  EXPECT_TRUE(file->Refresh());
  EXPECT_THAT(file->Modules(), IsEmpty());
  std::filesystem::resize_file(path_, 100);
  EXPECT_EQ(file->Refresh().error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(file->Site(0));
  std::filesystem::resize_file(path_, 0);
  EXPECT_FALSE(file->Refresh());
}

TEST_F(RingReaderTest, LossesAreCountedAndEachEventIsNamedOnce) {
  RingBytes bytes = SmallRings();
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto ring = bytes.Get<shm::ProbeRing>(ProbeRingAt(i));
    ring.dropped = 10;
    ring.interrupted = 1;
    ring.incomplete_count = i == 2 ? 1000000 : 2;
    ring.incomplete[0] = {9, 1};
    ring.incomplete[1] = {9, i};
    ring.open_from_ticks = 500;
    ring.open_until_ticks = 600;
    bytes.Put(ProbeRingAt(i), ring);
  }
  const auto file = Opened(bytes);
  ASSERT_TRUE(file);
  const RunFacts& facts = file->facts();
  EXPECT_EQ(facts.dropped, 30U);
  EXPECT_EQ(facts.interrupted, 3U);
  ASSERT_THAT(facts.incomplete, SizeIs(3));
  EXPECT_EQ(facts.incomplete[2].number, 2U);
  EXPECT_TRUE(facts.all_incomplete);
  EXPECT_EQ(facts.open_from_ticks, 500U);
  EXPECT_EQ(facts.open_until_ticks, 600U);
}

TEST_F(RingReaderTest, ClocksThatAreFarAwayAreHeld) {
  RunFacts facts{.tsc_to_ns_multiplier = std::uint64_t{1} << 34, .start_ticks = 1000};
  facts.start_unix_ns = 5000;
  EXPECT_EQ(facts.UnixNs(1001), 5004U);
  EXPECT_EQ(facts.UnixNs(999), 4996U);
  EXPECT_EQ(facts.UnixNs(kMost), std::uint64_t{1} << 63);
  facts.start_ticks = kMost;
  EXPECT_EQ(facts.UnixNs(0), 0U);
  facts.tsc_to_ns_multiplier = 0;
  facts.start_ticks = 10;
  EXPECT_EQ(facts.UnixNs(15), 5005U);
}

}  // namespace
}  // namespace fieldcost::probe

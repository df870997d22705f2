#include "aggregator/store/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "aggregator/store/contributions.h"

namespace fieldcost::store {
namespace {

using Seen = LedgerHead::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LedgerHeadTest, ASequenceIsNewOnce) {
  LedgerHead head;
  std::vector<std::uint64_t> forgotten;
  EXPECT_EQ(head.Classify(1), Seen::kNew);
  head.Record(1, forgotten);
  EXPECT_EQ(head.Classify(1), Seen::kReplay);
  EXPECT_EQ(head.Classify(2), Seen::kNew);
  EXPECT_THAT(forgotten, IsEmpty());
}

TEST(LedgerHeadTest, AGapInsideTheWindowMayBeFilledLater) {
  LedgerHead head;
  std::vector<std::uint64_t> forgotten;
  head.Record(64, forgotten);
  EXPECT_EQ(head.Classify(1), Seen::kNew);
  head.Record(1, forgotten);
  EXPECT_EQ(head.Classify(1), Seen::kReplay);
  head.Record(65, forgotten);
  EXPECT_EQ(head.Classify(1), Seen::kTooOld);
  EXPECT_THAT(forgotten, ElementsAre(1));
}

TEST(LedgerHeadTest, AJumpToTheLastSequenceForgetsEverythingBefore) {
  LedgerHead head;
  std::vector<std::uint64_t> forgotten;
  head.Record(1, forgotten);
  head.Record(2, forgotten);
  const auto last = std::numeric_limits<std::uint64_t>::max();
  head.Record(last, forgotten);
  EXPECT_THAT(forgotten, ElementsAre(2, 1));
  EXPECT_EQ(head.Classify(last), Seen::kReplay);
  EXPECT_EQ(head.Classify(2), Seen::kTooOld);
}

TEST(LedgerHeadTest, AnyOrderAgreesWithASetOfAllSequencesAndForgetsEachOnce) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 50; ++round) {
    LedgerHead head;
    std::set<std::uint64_t> accepted;
    std::set<std::uint64_t> kept;
    std::uint64_t high = 0;
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t sequence = 1 + random() % (high + 1 + random() % 90);
      const Seen seen = head.Classify(sequence);
      if (high >= sequence && high - sequence >= kLedgerWindow) {
        ASSERT_EQ(seen, Seen::kTooOld);
        continue;
      }
      ASSERT_EQ(seen, accepted.contains(sequence) ? Seen::kReplay : Seen::kNew);
      if (seen == Seen::kReplay) continue;
      std::vector<std::uint64_t> forgotten;
      head.Record(sequence, forgotten);
      accepted.insert(sequence);
      kept.insert(sequence);
      high = std::max(high, sequence);
      for (const std::uint64_t old : forgotten) ASSERT_EQ(kept.erase(old), 1U);
      ASSERT_TRUE(kept.empty() || high - *kept.begin() < kLedgerWindow);
      const auto decoded = LedgerHead::Decode(head.Encode());
      ASSERT_TRUE(decoded.has_value());
      ASSERT_EQ(decoded->Encode(), head.Encode());
    }
  }
}

TEST(LedgerHeadTest, EachSequenceLeavingTheWindowWasAcceptedOrSkippedOnce) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 50; ++round) {
    LedgerHead head;
    std::set<std::uint64_t> accepted;
    std::set<std::uint64_t> skipped;
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t jump = random() % 9 == 0 ? random() % 200 : random() % 4;
      const std::uint64_t sequence = 1 + random() % (head.high_water() + 1 + jump);
      if (head.Classify(sequence) != Seen::kNew) continue;
      for (const SequenceRange& range : head.Skipped(sequence)) {
        ASSERT_LE(range.first, range.last);
        for (std::uint64_t out = range.first; out <= range.last; ++out) {
          ASSERT_TRUE(skipped.insert(out).second);
        }
      }
      std::vector<std::uint64_t> forgotten;
      head.Record(sequence, forgotten);
      accepted.insert(sequence);
      for (std::uint64_t out = 1; out + kLedgerWindow <= head.high_water(); ++out) {
        ASSERT_NE(accepted.contains(out), skipped.contains(out));
      }
    }
    ASSERT_TRUE(skipped.empty() || *skipped.rbegin() + kLedgerWindow <= head.high_water());
  }
  LedgerHead head;
  const auto last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(head.Skipped(last), ElementsAre(SequenceRange{1, last - kLedgerWindow}));
  EXPECT_THAT(head.Skipped(kLedgerWindow), IsEmpty());
}

TEST(LedgerHeadTest, OtherBytesAreCorrupt) {
  const std::string good = LedgerHead().Encode();
  EXPECT_EQ(LedgerHead::Decode("").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(LedgerHead::Decode(good + "x").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(LedgerHead::Decode("\x02" + good.substr(1)).error().code, ErrorCode::kCorrupt);
}

TEST(LedgerHeadDeathTest, ABatchIsRecordedOnceAndNumbersBeginAtOne) {
  LedgerHead head;
  std::vector<std::uint64_t> forgotten;
  EXPECT_DEATH(head.Classify(0), "sequence >= 1");
  head.Record(3, forgotten);
  EXPECT_DEATH(head.Record(3, forgotten), "Seen::kNew");
  EXPECT_DEATH(head.Skipped(3), "Seen::kNew");
}

TEST(LedgerDeathTest, ContributionsAreInAscendingOrderAndEachOnce) {
  EXPECT_DEATH(EncodeContributions({2, 1}), "adjacent_find");
  EXPECT_DEATH(EncodeContributions({1, 1}), "adjacent_find");
}

TEST(LedgerTest, KeysOfDifferentKindsDifferInLength) {
  const std::string head = LedgerHeadKey(std::string(kAgentIdBytes, 'a'), 7);
  EXPECT_EQ(head.size(), 40U);
  EXPECT_EQ(AnswerKey(head, 9).size(), 48U);
  EXPECT_EQ(TombstoneKey(head, 9), AnswerKey(head, 9) + 'w');
  EXPECT_EQ(EnrolmentKey(head), head + 'e');
}

TEST(LedgerTest, SkippedSequencesFollowTheAnswers) {
  const std::string head = LedgerHeadKey(std::string(kAgentIdBytes, 'a'), 7);
  const std::string key = SkippedKey(head, 5);
  EXPECT_EQ(key, head + std::string(8, '\xff') + 's' + std::string(7, '\0') + '\5');
  EXPECT_EQ(EncodeSkipped(3), std::string("\1\0\0\0\0\0\0\0\3", 9));
  EXPECT_EQ(DecodeSkipped(EncodeSkipped(3)).value(), 3U);
  EXPECT_EQ(DecodeSkipped(EncodeSkipped(3) + "x").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeSkipped("").error().code, ErrorCode::kCorrupt);
  const auto last = std::numeric_limits<std::uint64_t>::max();
  for (const std::string& other : {head, AnswerKey(head, last), EnrolmentKey(head)}) {
    EXPECT_LT(other, SkippedKey(head, 0));
    EXPECT_FALSE(IsSkippedKey(other, head));
  }
  EXPECT_GT(TombstoneKey(head, last), SkippedKey(head, last));
  EXPECT_FALSE(IsSkippedKey(TombstoneKey(head, last), head));
  EXPECT_TRUE(IsSkippedKey(key, head));
  EXPECT_FALSE(IsSkippedKey(key, LedgerHeadKey(std::string(kAgentIdBytes, 'a'), 8)));
}

TEST(LedgerTest, AnAgentIsBoundToTheHashOfAClassAndToAWeek) {
  const std::string head = LedgerHeadKey(std::string(kAgentIdBytes, 'a'), 7);
  const AgentBinding binding{.class_hash = 258, .first_week = 2960};
  EXPECT_EQ(BindingKey(head), head + 'h');
  const std::string bytes("\1\0\0\0\0\0\0\1\2\0\0\x0b\x90", 13);
  EXPECT_EQ(EncodeBinding(binding), bytes);
  EXPECT_EQ(DecodeBinding(bytes).value(), binding);
  for (const std::string& bad :
       {std::string(), std::string(13, '\2'), bytes + "x", bytes.substr(0, 12)}) {
    EXPECT_EQ(DecodeBinding(bad).error().code, ErrorCode::kCorrupt);
  }
}

TEST(LedgerTest, BatchesThatNeverCameAreCounted) {
  const std::string head = LedgerHeadKey(std::string(kAgentIdBytes, 'a'), 7);
  EXPECT_EQ(UndeliveredKey(head), head + 'n');
  EXPECT_EQ(EncodeUndelivered(200), std::string("\x01\xc8\x01"));
  for (const std::uint64_t batches : {std::uint64_t{0}, std::uint64_t{1}, kMaxUndelivered}) {
    EXPECT_EQ(DecodeUndelivered(EncodeUndelivered(batches)).value(), batches);
  }
  for (const std::string& bad : {std::string(), std::string("\x02\x01"), EncodeUndelivered(1) + "x",
                                 EncodeUndelivered(kMaxUndelivered + 1)}) {
    EXPECT_EQ(DecodeUndelivered(bad).error().code, ErrorCode::kCorrupt);
  }
}

TEST(LedgerTest, TombstoneKeepsTheRowCountAndRejectsOtherBytes) {
  EXPECT_EQ(EncodeTombstone(300), std::string("\x01\xac\x02"));
  for (const std::uint32_t rows : {0U, 1U, 300U, 16384U}) {
    EXPECT_EQ(DecodeTombstone(EncodeTombstone(rows)).value(), rows);
  }
  for (const std::string& bad :
       {std::string(), std::string("\x01"), std::string("\x02\x01"), std::string("\x01\x01\x01"),
        std::string("\x01\x80"), EncodeTombstone(16385)}) {
    EXPECT_FALSE(DecodeTombstone(bad).has_value());
  }
}

}  // namespace
}  // namespace fieldcost::store

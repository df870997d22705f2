#include "common/recording/interval_query.h"

#include <algorithm>
#include <iterator>

#include "common/recording/spans.h"

namespace fieldcost::recording {
namespace {

constexpr std::uint64_t kPlus = 1;
constexpr std::uint64_t kMinus = ~std::uint64_t{0};  // modulo 2^64
// A random addition to a path costs about as much as two sequential ones (measured).
constexpr std::uint64_t kDensePerAddition = 2;

}  // namespace

IntervalQuery::IntervalQuery(const Recording& recording, StreamId stream, std::size_t metric)
    : recording_(recording),
      stream_(stream),
      metric_(metric),
      index_(recording.contents().streams[stream.value()]) {}

Result<BlockView> IntervalQuery::BlockAt(std::size_t block) const {
  return recording_.Block(index_.blocks()[block].frame, index_.metrics());
}

Result<IntervalQuery::Position> IntervalQuery::At(std::uint64_t time_ns) const {
  const auto& blocks = index_.blocks();
  const auto found = std::lower_bound(
      blocks.begin(), blocks.end(), time_ns,
      [](const StreamIndex::Block& block, std::uint64_t time) { return block.last_ns < time; });
  Position position{.block = static_cast<std::size_t>(found - blocks.begin())};
  if (found == blocks.end() || found->first_ns >= time_ns) return position;
  FIELDCOST_ASSIGN(const BlockView block, BlockAt(position.block));
  position.sample = std::min(block.Before(time_ns), found->samples);
  return position;
}

IntervalQuery::End IntervalQuery::EndOf(const Position& position) const {
  End end{.blocks = position.block, .block = position.block};
  if (position.sample == 0) return end;
  const std::uint32_t samples = index_.blocks()[position.block].samples;
  if (position.sample <= samples / 2) {
    end.end = position.sample;
  } else {
    end.blocks = position.block + 1;
    end.begin = position.sample;
    end.end = samples;
    end.factor = kMinus;
  }
  return end;
}

std::size_t IntervalQuery::BlocksOf(std::optional<std::size_t> vector) const {
  return vector ? index_.vectors()[*vector].blocks : 0;
}

std::uint64_t IntervalQuery::CostFrom(std::optional<std::size_t> vector, std::size_t blocks) const {
  const std::size_t from = BlocksOf(vector);
  const std::uint64_t paths = vector ? recording_.dictionary().paths.size() : 0;
  return paths / kDensePerAddition + index_.Cost(std::min(from, blocks), std::max(from, blocks));
}

std::optional<std::size_t> IntervalQuery::NearestVector(std::size_t blocks) const {
  const auto& vectors = index_.vectors();
  const auto after = std::lower_bound(
      vectors.begin(), vectors.end(), blocks,
      [](const StreamIndex::Vector& vector, std::size_t end) { return vector.blocks < end; });
  std::optional<std::size_t> best;
  const auto number = static_cast<std::size_t>(after - vectors.begin());
  if (number > 0) best = number - 1;
  if (after != vectors.end() && CostFrom(number, blocks) < CostFrom(best, blocks)) best = number;
  return best;
}

Status IntervalQuery::AddEnd(const End& end, std::uint64_t factor) {
  if (end.begin == end.end) return {};
  FIELDCOST_ASSIGN(const BlockView block, BlockAt(end.block));
  if (end.end > block.head.samples || !AddSamples(block, static_cast<std::uint32_t>(metric_),
                                                  end.begin, end.end, factor * end.factor, *out_)) {
    return Corrupt("a sample has an unknown path");
  }
  return {};
}

Status IntervalQuery::AddBlocks(std::size_t from, std::size_t to, std::uint64_t factor) {
  if (to < from) {
    std::swap(from, to);
    factor *= kMinus;
  }
  const auto metric = static_cast<std::uint32_t>(metric_);
  const auto add_sums = [&](const Result<Sums>& sums) -> Status {
    if (!sums) return sums.error();
    if (!AddSums(*sums, factor, *out_)) return Corrupt("sums are not well-formed");
    return {};
  };
  return index_.Visit(
      from, to,
      [&](const StreamIndex::Group& group) -> Status {
        FIELDCOST_ASSIGN(const FileFrame frame, recording_.Frame(group.frame));
        return add_sums(ReadGroup(frame.payload, metric));
      },
      [&](const StreamIndex::Block& entry) -> Status {
        FIELDCOST_ASSIGN(const BlockView block, recording_.Block(entry.frame, index_.metrics()));
        if (block.head.sum_entries > 0) return add_sums(block.SumsOf(metric));
        if (!AddSamples(block, metric, 0, block.head.samples, factor, *out_)) {
          return Corrupt("a sample has an unknown path");
        }
        return {};
      });
}

Status IntervalQuery::AddVector(std::optional<std::size_t> vector, std::uint64_t factor,
                                bool is_first) {
  if (!vector) {
    if (is_first) std::fill(out_->begin(), out_->end(), 0);
    return {};
  }
  const std::uint32_t number = index_.vectors()[*vector].frames[metric_];
  FIELDCOST_ASSIGN(const FileFrame frame, recording_.Frame(number));
  FIELDCOST_ASSIGN(const Column column, ReadVector(frame.payload));
  if (column.count > out_->size()) return Corrupt("a vector has unknown paths");
  if (is_first && factor == kPlus) {
    SetAll(column, *out_);
  } else {
    AddAll(column, factor, *out_);
  }
  return {};
}

Status IntervalQuery::AddWhole(Interval interval) {
  const auto nothing = [&] { return AddVector(std::nullopt, kPlus, true); };
  if (interval.to_ns <= interval.from_ns || index_.blocks().empty()) return nothing();
  FIELDCOST_ASSIGN(const Position from, At(interval.from_ns));
  FIELDCOST_ASSIGN(const Position to, At(interval.to_ns));
  if (from.block == to.block) {
    FIELDCOST_TRY(nothing());
    return AddEnd({.block = from.block, .begin = from.sample, .end = to.sample}, kPlus);
  }
  const End begin = EndOf(from);
  const End end = EndOf(to);
  const auto begin_vector = NearestVector(begin.blocks);
  const auto end_vector = NearestVector(end.blocks);
  const std::uint64_t by_vectors =
      CostFrom(begin_vector, begin.blocks) + CostFrom(end_vector, end.blocks);
  if (index_.Cost(begin.blocks, end.blocks) <= by_vectors) {
    FIELDCOST_TRY(nothing());
    FIELDCOST_TRY(AddBlocks(begin.blocks, end.blocks, kPlus));
  } else {
    FIELDCOST_TRY(AddVector(end_vector, kPlus, true));
    FIELDCOST_TRY(AddVector(begin_vector, kMinus, false));
    FIELDCOST_TRY(AddBlocks(BlocksOf(end_vector), end.blocks, kPlus));
    FIELDCOST_TRY(AddBlocks(BlocksOf(begin_vector), begin.blocks, kMinus));
  }
  FIELDCOST_TRY(AddEnd(end, kPlus));
  return AddEnd(begin, kMinus);
}

Status IntervalQuery::AddPassed(std::uint64_t time_ns, std::uint64_t factor) {
  FIELDCOST_ASSIGN(const Position first, At(time_ns));
  const std::uint64_t limit_ns = SpanLimitNs(recording_.contents().descriptions, stream_);
  std::span<const std::uint64_t> begins;
  if (limit_ns == UINT64_MAX) begins = recording_.BlockBegins(stream_);
  std::uint32_t begin = first.sample;
  for (std::size_t i = first.block; i < index_.blocks().size(); ++i, begin = 0) {
    const std::uint64_t first_ns = index_.blocks()[i].first_ns;
    if (first_ns > time_ns && first_ns - time_ns >= limit_ns) break;
    if (!begins.empty() && begins[i] >= time_ns) continue;
    FIELDCOST_ASSIGN(const BlockView block, BlockAt(i));
    for (std::uint32_t sample = begin; sample < block.head.samples; ++sample) {
      const std::uint64_t passed_ns =
          PassedBefore(time_ns, block.time_ns(sample), block.columns[metric_][sample], limit_ns);
      if (passed_ns == 0) continue;
      const std::uint32_t path = block.path(sample);
      if (path >= out_->size()) return Corrupt("a sample has an unknown path");
      (*out_)[path] += factor * passed_ns;
    }
  }
  return {};
}

Status IntervalQuery::Run(Interval interval, std::vector<std::uint64_t>& out) {
  out.resize(recording_.dictionary().paths.size());
  out_ = &out;
  FIELDCOST_TRY(AddWhole(interval));
  if (interval.to_ns <= interval.from_ns ||
      !HasSpans(recording_.contents().descriptions, stream_, metric_)) {
    return {};
  }
  FIELDCOST_TRY(AddPassed(interval.to_ns, kPlus));
  return AddPassed(interval.from_ns, kMinus);
}

}  // namespace fieldcost::recording

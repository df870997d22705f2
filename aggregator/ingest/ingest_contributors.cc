// Finds the agents that have contributed to faulty rows.
#include <algorithm>
#include <utility>

#include "aggregator/ingest/ingest.h"
#include "aggregator/store/store_row_codec.h"
#include "common/crypto/sip_hash.h"

namespace fieldcost::ingest {

Status Ingest::NoteContributors(Abuse kind, const std::vector<stats::RowKey>& rows) {
  std::vector<std::string> keys;
  for (const stats::RowKey& row : rows) store::AppendContributionKey(row, keys.emplace_back());
  std::vector<std::pair<std::string, std::size_t>> contributors;
  std::size_t most = 0;
  std::vector<std::uint64_t> contributions;
  const auto count_of = [&](std::string_view agent_id) -> Status {
    FIELDCOST_ASSIGN(const auto epoch, store_.FirstEpochOf(agent_id));
    if (!epoch) return {};
    FIELDCOST_TRY(store_.GetContributions(agent_id, *epoch, contributions));
    if (contributions.empty()) return {};
    crypto::SipHash hash(pseudonyms_.ContributionKeyOf(std::string(agent_id)));
    const auto count = static_cast<std::size_t>(std::ranges::count_if(keys, [&](const auto& key) {
      return std::ranges::binary_search(contributions, hash(key));
    }));
    if (count != 0) contributors.emplace_back(agent_id, count);
    most = std::max(most, count);
    return {};
  };
  FIELDCOST_TRY(store_.ForEachAgent(count_of));
  for (const auto& [agent_id, count] : contributors) {
    if (kind == Abuse::kInconsistentRow || 2 * count >= most) {
      abuse_log_.Note(kind, agent_id, clock_.Now());
    }
  }
  return {};
}

}  // namespace fieldcost::ingest

#include "agent/upload/epoch_connection.h"

#include "agent/upload/service_requests.h"
#include "common/base/check.h"
#include "common/wire/batch.h"

namespace fieldcost::upload {

Status EpochConnection::Connect(wire::Epoch epoch) {
  if (IsOfAnother(epoch)) client_.reset();
  epoch_ = epoch;
  FIELDCOST_ASSIGN(const std::string root, PinnedRootFingerprint(*paths_));
  if (!client_) {
    FIELDCOST_ASSIGN(http::Client client, ConnectToService(*config_, may_go_on_));
    client_.emplace(std::move(client));
  }
  service_ = wire::ServiceId(client_->server_name(), root);
  return {};
}

const std::string& EpochConnection::service() const {
  FIELDCOST_CHECK(client_.has_value());
  return service_;
}

http::Client& EpochConnection::client() {
  FIELDCOST_CHECK(client_.has_value());
  return *client_;
}

}  // namespace fieldcost::upload

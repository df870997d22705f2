#include "aggregator/operate/with_store.h"

#include <utility>

#include "aggregator/operate/ask_service.h"

namespace fieldcost::aggregator {

Status CheckStoreExists(const Config& config) {
  std::error_code error;
  if (std::filesystem::is_directory(config.store.data_dir / "store", error)) return {};
  return Fail(ErrorCode::kNotFound, "there is no store in {}", config.store.data_dir.string());
}

Result<std::unique_ptr<store::Store>> OpenExisting(const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  return store::Store::Open(config.store);
}

Result<Outcome> WithStore(const Config& config, const std::string& path, std::string body,
                          const std::function<Result<Outcome>(store::Store&)>& work) {
  const auto store = OpenExisting(config);
  if (store) return work(**store);
  if (store.error().code != ErrorCode::kAlreadyExists) return store.error();
  return AskService(config, path, std::move(body));
}

}  // namespace fieldcost::aggregator

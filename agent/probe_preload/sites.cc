#include "agent/probe_preload/sites.h"

#include <string.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text_builder.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {
namespace {

uint16_t plan_events[shm::kProbeSites];  // by site
uint32_t automatic_sites[8];             // number + 1, by bit; the last is that of joins
constexpr uint32_t kJoin = 7;

const char* OrEmpty(const char* text) { return text != nullptr ? text : ""; }

// The end of a path is more informative than its beginning.
const char* EndOf(const char* path, size_t bytes) {
  const size_t size = strlen(path);
  return size < bytes ? path : path + (size - bytes + 1);
}

void Describe(const SiteText& text, shm::ProbeSite* site) {
  intercept::CopyText(site->label, text.label);
  intercept::CopyText(site->file, EndOf(OrEmpty(text.file), sizeof site->file));
  intercept::TextBuilder function(site->function, sizeof site->function);
  function.Add(OrEmpty(text.function));
  if (text.symbol != nullptr) function.Add("!").Add(text.symbol);
  site->line = text.line;
  site->kind = text.kind;
  site->automatic = text.automatic;
}

void WriteToFile(uint32_t number) {
  auto* const in_file = process.InFile<shm::ProbeSite>(shm::ProbeSitesOffset(), number);
  if (!intercept::Populate(reinterpret_cast<uint64_t>(in_file), sizeof *in_file)) return;
  const shm::ProbeSite& known = process.sites[number];
  memcpy(in_file, &known, offsetof(shm::ProbeSite, complete));
  __atomic_store_n(&in_file->complete, 1, __ATOMIC_RELEASE);
}

uint32_t Kept(uint32_t* kept, const SiteText& text) {
  const uint32_t known = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
  if (known != 0) return known - 1;
  const uint32_t made = AddSite(text);
  if (made != kNoSite) __atomic_store_n(kept, made + 1, __ATOMIC_RELEASE);
  return made;
}

}  // namespace

__attribute__((noinline)) uint32_t AddSite(const SiteText& text) {
  const uint32_t number = __atomic_fetch_add(&process.site_count, 1, __ATOMIC_RELAXED);
  if (number >= shm::kProbeSites) {
    __atomic_store_n(&process.site_count, shm::kProbeSites + 1, __ATOMIC_RELAXED);
    process.header->site_count = shm::kProbeSites + 1;
    return kNoSite;
  }
  shm::ProbeSite* const site = &process.sites[number];
  Describe(text, site);
  plan_events[number] = static_cast<uint16_t>(PlanEventCalled(site->label));
  __atomic_store_n(&site->complete, 1, __ATOMIC_RELEASE);
  WriteToFile(number);
  process.header->site_count = __atomic_load_n(&process.site_count, __ATOMIC_RELAXED);
  return number;
}

uint32_t AutomaticSite(shm::ProbeAutomatic point) {
  static const char kLabels[7][16] = {"process", "loaded", "main", "first output",
                                      "dlopen",  "exec",   "exit"};
  const auto index = static_cast<uint32_t>(__builtin_ctz(point));
  return Kept(&automatic_sites[index],
              {kLabels[index], nullptr, nullptr, nullptr, 0, shm::kProbeAutomaticSite, point});
}

uint32_t JoinSite() {
  return Kept(&automatic_sites[kJoin],
              {"join", nullptr, nullptr, nullptr, 0, shm::kProbeSource, 0});
}

void KeepSites() {
  const uint32_t count = process.site_count;
  process.header->site_count = count;
  for (uint32_t i = 0; i < count && i < shm::kProbeSites; ++i) {
    if (__atomic_load_n(&process.sites[i].complete, __ATOMIC_ACQUIRE) != 0) WriteToFile(i);
  }
}

uint32_t PlanEventOf(uint32_t site) { return plan_events[site]; }

}  // namespace fieldcost::probe_preload

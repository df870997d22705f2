#include "agent/symbols/function_names.h"

#include <fcntl.h>
#include <gelf.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/base/file.h"

namespace fieldcost::symbols {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using OpenElf = std::unique_ptr<Elf, EndElf>;

void AddNames(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
              std::vector<std::string>& names) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const std::size_t count = data->d_size / header.sh_entsize;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && *name != '\0') names.emplace_back(name);
  }
}

}  // namespace

Result<std::vector<std::string>> FunctionNames(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  elf_version(EV_CURRENT);
  const OpenElf elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) {
    return Fail(ErrorCode::kCorrupt, "{}: not an ELF file", path.string());
  }
  std::vector<std::string> names;
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) continue;
    AddNames(elf.get(), section, header, names);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace fieldcost::symbols

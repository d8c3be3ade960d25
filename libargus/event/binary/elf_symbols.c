#include "event/binary/elf_symbols.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "event/binary/debug_file.h"

#if defined(__aarch64__)
#define OWN_MACHINE      EM_AARCH64
#define RELOCATE_ABS     R_AARCH64_ABS64
#define RELOCATE_BY_BASE R_AARCH64_RELATIVE
#else
#define OWN_MACHINE      EM_X86_64
#define RELOCATE_ABS     R_X86_64_64
#define RELOCATE_BY_BASE R_X86_64_RELATIVE
#endif

static const Dwfl_Callbacks callbacks = {
    /* never called, because the file is given as a descriptor */
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_file_find,
};

static bool is_own_machine(Elf *elf)
{
    GElf_Ehdr header;
    return elf && gelf_getclass(elf) == ELFCLASS64 && gelf_getehdr(elf, &header) &&
           header.e_machine == OWN_MACHINE;
}

/* .symtab has versioned symbols as name@VERSION or name@@VERSION. */
static bool same_name(const char *symbol, const char *name)
{
    size_t length = strlen(name);
    return strncmp(symbol, name, length) == 0 && (symbol[length] == '\0' || symbol[length] == '@');
}

/* --- pointers in data --- */

static bool find_in_relocations(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t place,
                                uint64_t *ret)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol = {0};
        if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != place)
            continue;
        uint64_t type = GELF_R_TYPE(rela.r_info);
        bool by_symbol = type == RELOCATE_ABS && symbol_data &&
                         gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol) &&
                         symbol.st_shndx != SHN_UNDEF;
        if (!by_symbol && type != RELOCATE_BY_BASE)
            return false;
        *ret = symbol.st_value + (uint64_t)rela.r_addend;
        return true;
    }
    return false;
}

/* The value in the file itself: packed relative relocations (SHT_RELR) store the address in
 * place. */
static bool read_in_place(Elf *elf, uint64_t place, uint64_t *ret)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
            place < header.sh_addr || place - header.sh_addr + 8 > header.sh_size ||
            !(header.sh_flags & SHF_ALLOC))
            continue;
        data = elf_getdata(section, NULL);
        if (!data || !data->d_buf || place - header.sh_addr + 8 > data->d_size)
            return false;
        memcpy(ret, (const char *)data->d_buf + (place - header.sh_addr), 8);
        return *ret != 0;
    }
    return false;
}

/* The value that the pointer at `place` will have after loading, relative to the load address. */
static bool pointer_at(Elf *elf, uint64_t place, uint64_t *ret)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
            find_in_relocations(elf, section, &header, place, ret))
            return true;
    }
    return read_in_place(elf, place, ret);
}

/* --- addresses and file offsets --- */

/* Probes are possible in code only. */
static bool code_offset(Elf *elf, uint64_t address, uint64_t *ret)
{
    size_t count = 0;
    if (elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X) || address < header.p_vaddr ||
            address - header.p_vaddr >= header.p_filesz)
            continue;
        *ret = header.p_offset + (address - header.p_vaddr);
        return true;
    }
    return false;
}

static void take_symbol(Elf *elf, uint64_t address, int type, struct elf_wanted *wanted)
{
    uint64_t function = address;
    if (wanted->is_pointer ? type != STT_OBJECT : type != STT_FUNC)
        return;
    if (wanted->is_pointer && !pointer_at(elf, address + wanted->data_offset, &function))
        return;
    wanted->found = code_offset(elf, function, &wanted->file_offset);
}

static void look_through(Dwfl_Module *module, Elf *elf, uint64_t bias, struct elf_wanted *wanted,
                         size_t count)
{
    int symbols = dwfl_module_getsymtab(module);
    for (int i = 1; i < symbols; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        if (!name || symbol.st_shndx == SHN_UNDEF)
            continue;
        for (size_t k = 0; k < count; k++)
            if (!wanted[k].found && same_name(name, wanted[k].name))
                take_symbol(elf, address - bias, GELF_ST_TYPE(symbol.st_info), &wanted[k]);
    }
}

/* A file being searched. */
struct elf_module {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    GElf_Addr bias;
};

static void module_close(struct elf_module *opened)
{
    dwfl_end(opened->dwfl);
}

/* Call module_close() even after false, which means: not a file of this machine's architecture. */
static bool module_open(int fd, const char *path, struct elf_module *ret)
{
    elf_version(EV_CURRENT);
    *ret = (struct elf_module){0};
    int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    ret->dwfl = own_fd < 0 ? NULL : dwfl_begin(&callbacks);
    ret->module = ret->dwfl ? dwfl_report_elf(ret->dwfl, path, path, own_fd, 0, true) : NULL;
    if (!ret->module && own_fd >= 0)
        close(own_fd); /* otherwise the module owns it */
    bool good = ret->module && dwfl_report_end(ret->dwfl, NULL, NULL) == 0;
    ret->elf = good ? dwfl_module_getelf(ret->module, &ret->bias) : NULL;
    return is_own_machine(ret->elf);
}

bool elf_symbols_find(int fd, const char *path, struct elf_wanted *wanted, size_t count)
{
    struct elf_module opened;
    for (size_t i = 0; i < count; i++)
        wanted[i].found = false;
    bool good = module_open(fd, path, &opened);
    if (good)
        look_through(opened.module, opened.elf, opened.bias, wanted, count);
    module_close(&opened);
    return good;
}

static void visit_all(const struct elf_module *opened, elf_symbol_visit visit, void *context)
{
    int symbols = dwfl_module_getsymtab(opened->module);
    bool goes_on = true;
    for (int i = 1; i < symbols && goes_on; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        uint64_t offset;
        const char *name =
            dwfl_module_getsym_info(opened->module, i, &symbol, &address, NULL, NULL, NULL);
        if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
            code_offset(opened->elf, address - opened->bias, &offset))
            goes_on = visit(context, name, offset);
    }
}

bool elf_symbols_each(int fd, const char *path, elf_symbol_visit visit, void *context)
{
    struct elf_module opened;
    bool good = module_open(fd, path, &opened);
    if (good)
        visit_all(&opened, visit, context);
    module_close(&opened);
    return good;
}

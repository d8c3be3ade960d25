/* Finds variables in ELF files that no process has mapped yet, to watch a flag from the start of a
 * program. */
#include "argus/data_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "event/binary/data_module.h"
#include "event/binary/debug_file.h"
#include "event/binary/member_place.h"

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = debug_file_find,
    .section_address = dwfl_offline_section_address,
};

static struct argus_error *no_program(const char *path)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s is not a program or library for this machine",
                              path);
}

/* --- how it will be mapped --- */

/* The kernel maps whole pages, beginning with the page that contains the segment's first byte
 * (fs/binfmt_elf.c, elf_map()). */
static bool find_code(Elf *elf, struct argus_data_image *ret)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X))
            continue;
        ret->code_offset = header.p_offset - header.p_offset % page;
        ret->code_address = header.p_vaddr - header.p_vaddr % page;
        return true;
    }
    return false;
}

static bool read_image(Elf *elf, struct argus_data_image *ret)
{
    GElf_Ehdr header;
    const void *build_id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || !find_code(elf, ret))
        return false;
    ret->is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64;
    if (bytes > 0 && (size_t)bytes <= sizeof(ret->build_id)) {
        memcpy(ret->build_id, build_id, (size_t)bytes);
        ret->build_id_bytes = (uint32_t)bytes;
    }
    return true;
}

struct argus_error *argus_data_image_read(const char *path, struct argus_data_image *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *ret = (struct argus_data_image){0};
    if (fd < 0)
        return argus_error_os(errno, "cannot open %s", path);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool read = elf && read_image(elf, ret);
    elf_end(elf);
    close(fd);
    return read ? NULL : no_program(path);
}

static bool read_segment(Elf *elf, int fd, uint64_t address, void *ret, size_t bytes)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz &&
            bytes <= header.p_filesz - (address - header.p_vaddr))
            return pread(fd, ret, bytes, (off_t)(header.p_offset + (address - header.p_vaddr))) ==
                   (ssize_t)bytes;
    }
    return false;
}

bool argus_data_file_read(const char *path, uint64_t address, void *ret, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool read = elf && read_segment(elf, fd, address, ret, bytes);
    elf_end(elf);
    close(fd);
    return read;
}

/* --- its variables --- */

struct visit {
    argus_data_symbol_function function;
    void *context;
};

/* Converts addresses as laid out by libdwfl to addresses in the file. */
static bool tell(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    const struct visit *visit = context;
    struct argus_data_symbol in_file = *symbol;
    if (!in_file.is_thread_local)
        in_file.address -= in_file.module_address;
    in_file.module_address = 0;
    return visit->function(visit->context, name, &in_file);
}

struct argus_error *argus_data_file_symbols_each(const char *path,
                                                 argus_data_symbol_function function, void *context)
{
    struct visit visit = {function, context};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return argus_error_memory();
    Dwfl_Module *module = dwfl_report_offline(dwfl, "", path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    if (module)
        data_module_each(module, tell, &visit);
    dwfl_end(dwfl);
    return module ? NULL : no_program(path);
}

struct argus_error *argus_data_file_symbol_find(const char *path, const char *name,
                                                struct argus_data_symbol *ret, bool *ret_found)
{
    struct data_wanted wanted = {.name = name, .symbol = ret};
    struct argus_error *error = argus_data_file_symbols_each(path, data_wanted_take, &wanted);
    *ret_found = !error && wanted.found;
    return error;
}

struct argus_error *argus_data_file_members_read(const char *path, const char *text,
                                                 struct argus_data_place *ret)
{
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return argus_error_memory();
    Dwfl_Module *module = dwfl_report_offline(dwfl, "", path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    struct argus_error *error =
        module ? member_place_read(module, path, text, ret) : no_program(path);
    dwfl_end(dwfl);
    return error;
}

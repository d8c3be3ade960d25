#include "argus/data_symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "event/debug_file.h"
#include "event/demangle.h"

#if defined(__aarch64__)
#define RELOCATE_MODULE R_AARCH64_TLS_DTPMOD
#else
#define RELOCATE_MODULE R_X86_64_DTPMOD64
#endif

struct search {
    const char *image;
    argus_data_symbol_function function;
    void *context;
    uint64_t base;
    bool found;
    char files[400]; /* names of those that there are, for the error */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a mapped file is the one that is meant. */
static bool is_meant(const char *path, const char *wanted)
{
    const char *name = last_part(path);
    size_t length = strlen(wanted);
    if (strchr(wanted, '/'))
        return strcmp(path, wanted) == 0;
    return strncmp(name, wanted, length) == 0 &&
           (name[length] == '\0' || name[length] == '.' || name[length] == '-');
}

static void note_file(struct search *search, const char *path)
{
    size_t length = strlen(search->files);
    if (path[0] == '/')
        snprintf(search->files + length, sizeof(search->files) - length, "%s%s", length ? ", " : "",
                 last_part(path));
}

static bool offer(struct search *search, const char *name, const struct argus_data_symbol *symbol)
{
    char *readable = demangle(name);
    bool go_on = search->function(search->context, name, symbol) &&
                 (!readable || search->function(search->context, readable, symbol));
    free(readable);
    return go_on;
}

/* The address in the file of a word that the dynamic linker fills with the number of this module; 0: none. */
static uint64_t module_word(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
            GElf_Rela rela;
            uint64_t type = gelf_getrela(data, (int)i, &rela) ? GELF_R_TYPE(rela.r_info) : 0;
            if (type == RELOCATE_MODULE)
                return rela.r_offset;
        }
    }
    return 0;
}

/* A program has an interpreter; a library that has one, too (libc), is no program that anybody debugs. */
static bool is_program(Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static void each_symbol(struct search *search, Dwfl_Module *module)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    uint64_t word = module_word(elf);
    bool of_program = is_program(elf);
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym entry;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(module, i, &entry, &address, &section, NULL, NULL);
        int type = name ? GELF_ST_TYPE(entry.st_info) : STT_NOTYPE;
        if (!name || !name[0] || entry.st_shndx == SHN_UNDEF ||
            (type != STT_OBJECT && type != STT_TLS && type != STT_COMMON))
            continue;
        struct argus_data_symbol symbol = {.address = type == STT_TLS ? entry.st_value : address,
                                           .size_bytes = entry.st_size,
                                           .is_global = GELF_ST_BIND(entry.st_info) != STB_LOCAL,
                                           .is_thread_local = type == STT_TLS,
                                           .is_of_program = of_program && !word,
                                           .module_word = word ? word + bias : 0,
                                           .module_address = search->base};
        if (!offer(search, name, &symbol))
            return;
    }
}

static int look_at_module(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start,
                          void *context)
{
    struct search *search = context;
    GElf_Addr bias = 0;
    (void)user_data, (void)start;
    if (!is_meant(name, search->image)) {
        note_file(search, name);
        return DWARF_CB_OK;
    }
    if (!dwfl_module_getelf(module, &bias))
        return DWARF_CB_OK;
    search->found = true;
    search->base = bias;
    if (search->function)
        each_symbol(search, module);
    return DWARF_CB_ABORT;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = debug_file_find,
};

static struct argus_error *report(Dwfl *dwfl, uint32_t pid)
{
    int failed = dwfl_linux_proc_report(dwfl, (pid_t)pid);
    if (dwfl_report_end(dwfl, NULL, NULL) != 0 && !failed)
        failed = -1;
    if (failed == ENOENT || failed == ESRCH)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid);
    if (failed == EACCES || failed == EPERM)
        return argus_error_create(ARGUS_ERROR_PERMISSION, "process %u is somebody else's", pid);
    if (failed)
        return argus_error_create(ARGUS_ERROR_IO, "cannot read which files process %u has mapped",
                                  pid);
    return NULL;
}

static struct argus_error *run(uint32_t pid, struct search *search)
{
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return argus_error_memory();
    struct argus_error *error = report(dwfl, pid);
    if (!error)
        dwfl_getmodules(dwfl, look_at_module, search, 0);
    dwfl_end(dwfl);
    if (!error && !search->found)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                   "process %u has no file '%s' mapped; it has: %s", pid,
                                   search->image, search->files[0] ? search->files : "none");
    return error;
}

struct argus_error *argus_data_symbols_each(uint32_t pid, const char *image,
                                            argus_data_symbol_function function, void *context)
{
    struct search search = {.image = image, .function = function, .context = context};
    return run(pid, &search);
}

/* --- one of them --- */

struct one {
    const char *name;
    struct argus_data_symbol *symbol;
    bool found;
};

static bool look_for_one(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    struct one *one = context;
    if (strcmp(name, one->name) != 0)
        return true;
    *one->symbol = *symbol;
    one->found = true;
    return false;
}

/* The program comes first when the dynamic linker looks for a name, so its copy is everybody's. */
static void prefer_copy(uint32_t pid, const char *name, struct argus_data_symbol *symbol)
{
    char link[32], path[PATH_MAX];
    struct argus_data_symbol copy;
    struct one one = {.name = name, .symbol = &copy};
    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || !symbol->is_global || symbol->is_thread_local)
        return;
    path[length] = '\0';
    argus_error_destroy(argus_data_symbols_each(pid, path, look_for_one, &one));
    if (one.found && copy.is_global && copy.size_bytes == symbol->size_bytes)
        *symbol = copy;
}

struct argus_error *argus_data_symbol_find(uint32_t pid, const char *image, const char *name,
                                           struct argus_data_symbol *ret, bool *ret_found)
{
    struct one one = {.name = name, .symbol = ret};
    struct argus_error *error = argus_data_symbols_each(pid, image, look_for_one, &one);
    *ret_found = !error && one.found;
    if (*ret_found)
        prefer_copy(pid, name, ret);
    return error;
}

struct argus_error *argus_image_base(uint32_t pid, const char *image, uint64_t *ret)
{
    struct search search = {.image = image};
    struct argus_error *error = run(pid, &search);
    if (!error)
        *ret = search.base;
    return error;
}

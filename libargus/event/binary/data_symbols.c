#include "argus/data_symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "base/process_owner.h"
#include "event/binary/data_module.h"
#include "event/binary/debug_file.h"
#include "event/binary/member_place.h"

struct search {
    const char *image;
    void (*look)(Dwfl_Module *module, void *context); /* NULL: only the base is wanted */
    void *context;
    uint64_t base;
    bool found;
    char files[400]; /* names of the mapped files, for the error message */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a mapped file is the requested one. */
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
    if (search->look)
        search->look(module, search->context);
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
        return process_owner_error("look into", pid, geteuid());
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

struct visit {
    argus_data_symbol_function function;
    void *context;
};

static void visit_symbols(Dwfl_Module *module, void *context)
{
    const struct visit *visit = context;
    data_module_each(module, visit->function, visit->context);
}

struct argus_error *argus_data_symbols_each(uint32_t pid, const char *image,
                                            argus_data_symbol_function function, void *context)
{
    struct visit visit = {function, context};
    struct search search = {.image = image, .look = visit_symbols, .context = &visit};
    return run(pid, &search);
}

/* --- members --- */

struct members {
    const char *image, *text;
    struct argus_data_place *ret;
    struct argus_error *error;
};

static void read_members(Dwfl_Module *module, void *context)
{
    struct members *members = context;
    members->error = member_place_read(module, members->image, members->text, members->ret);
}

struct argus_error *argus_data_members_read(uint32_t pid, const char *image, const char *text,
                                            struct argus_data_place *ret)
{
    struct members members = {image, text, ret, NULL};
    struct search search = {.image = image, .look = read_members, .context = &members};
    struct argus_error *error = run(pid, &search);
    return error ? error : members.error;
}

/* --- one variable --- */

/* The dynamic linker searches the program before its libraries, so the program's copy is used by
 * all. */
static void prefer_copy(uint32_t pid, const char *name, struct argus_data_symbol *symbol)
{
    char link[32], path[PATH_MAX];
    struct argus_data_symbol copy;
    struct data_wanted wanted = {.name = name, .symbol = &copy};
    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || !symbol->is_global || symbol->is_thread_local)
        return;
    path[length] = '\0';
    argus_error_destroy(argus_data_symbols_each(pid, path, data_wanted_take, &wanted));
    if (wanted.found && copy.is_global && copy.size_bytes == symbol->size_bytes)
        *symbol = copy;
}

struct argus_error *argus_data_symbol_find(uint32_t pid, const char *image, const char *name,
                                           struct argus_data_symbol *ret, bool *ret_found)
{
    struct data_wanted wanted = {.name = name, .symbol = ret};
    struct argus_error *error = argus_data_symbols_each(pid, image, data_wanted_take, &wanted);
    *ret_found = !error && wanted.found;
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

/* --- by address --- */

static struct argus_error *module_at(Dwfl *dwfl, uint32_t pid, uint64_t address, char *ret_path,
                                     size_t path_bytes, uint64_t *ret_base)
{
    GElf_Addr bias;
    const char *file = NULL;
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    const char *name = module && dwfl_module_getelf(module, &bias)
                           ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL)
                           : NULL;
    name = file ? file : name;
    if (!name || name[0] != '/' || strlen(name) >= path_bytes)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "0x%llx of process %u is not in the memory of a file",
                                  (unsigned long long)address, pid);
    snprintf(ret_path, path_bytes, "%s", name);
    *ret_base = bias;
    return NULL;
}

struct argus_error *argus_image_at(uint32_t pid, uint64_t address, char *ret_path,
                                   size_t path_bytes, uint64_t *ret_base)
{
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return argus_error_memory();
    struct argus_error *error = report(dwfl, pid);
    if (!error)
        error = module_at(dwfl, pid, address, ret_path, path_bytes, ret_base);
    dwfl_end(dwfl);
    return error;
}

#include "event/binary/debug_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "event/binary/elf_file.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* Opens `path` if it is a debug file with this build ID (with any, if `id_bytes` is 0). */
static int open_matching(const char *path, const unsigned char *id, int id_bytes, char **ret_path)
{
    int fd = elf_open_regular(path, 0);
    if (fd < 0)
        return -1;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    const void *found = NULL;
    ssize_t found_bytes = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
    bool matches =
        elf && (id_bytes <= 0 || (found_bytes == id_bytes && !memcmp(found, id, (size_t)id_bytes)));
    elf_end(elf);
    if (!matches) {
        close(fd);
        return -1;
    }
    free(*ret_path);
    *ret_path = strdup(path);
    return fd;
}

static int find_by_build_id(const unsigned char *id, int id_bytes, char **ret_path)
{
    char path[sizeof(DEBUG_ROOT) + 128];
    if (id_bytes < 2 || id_bytes > ELF_BUILD_ID_MAX)
        return -1;
    int used = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", id[0]);
    for (int i = 1; i < id_bytes; i++)
        used += snprintf(path + used, sizeof(path) - (size_t)used, "%02x", id[i]);
    snprintf(path + used, sizeof(path) - (size_t)used, ".debug");
    return open_matching(path, id, id_bytes, ret_path);
}

/* A debuglink names a file next to the program, in the folder .debug there, or under DEBUG_ROOT. It
 * is used only if there is a build ID to check it: checking the debuglink's checksum would mean
 * reading the whole file. */
static int find_by_link(const char *program, const char *link, const unsigned char *id,
                        int id_bytes, char **ret_path)
{
    static const char *const forms[] = {"%.*s%s", "%.*s.debug/%s", DEBUG_ROOT "%.*s%s"};
    const char *slash = program ? strrchr(program, '/') : NULL;
    if (!slash || !link || strchr(link, '/') || id_bytes <= 0)
        return -1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        char path[4096];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int length =
            snprintf(path, sizeof(path), forms[i], (int)(slash + 1 - program), program, link);
#pragma GCC diagnostic pop
        int fd = length < (int)sizeof(path) && strcmp(path, program) != 0
                     ? open_matching(path, id, id_bytes, ret_path)
                     : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

int debug_file_find(Dwfl_Module *module, void **userdata, const char *module_name, Dwarf_Addr base,
                    const char *file_name, const char *debuglink, GElf_Word debuglink_crc,
                    char **ret_path)
{
    (void)userdata, (void)module_name, (void)base, (void)debuglink_crc;
    const unsigned char *id = NULL;
    GElf_Addr id_address;
    /* a file that several debug files share (dwz), which is not needed */
    if (!file_name && debuglink)
        return -1;
    int id_bytes = dwfl_module_build_id(module, &id, &id_address);
    int fd = id_bytes > 0 ? find_by_build_id(id, id_bytes, ret_path) : -1;
    return fd >= 0 ? fd : find_by_link(file_name, debuglink, id, id_bytes, ret_path);
}

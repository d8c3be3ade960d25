#include "event/binary/elf_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "event/names/demangle.h"

void readable_names_deinit(struct readable_names *names)
{
    idmap_deinit(&names->by_name);
    strtab_destroy(names->names);
    names->names = NULL;
}

/* Keeps the repaired `text`, which is freed, for `key`; NULL without memory. */
static const char *keep(struct readable_names *names, const char *key, char *text)
{
    uint32_t id;
    utf8_repair_name(text, strlen(text));
    struct argus_error *error = strtab_intern(names->names, text, strlen(text), &id);
    free(text);
    argus_error_destroy(error);
    if (error)
        return NULL;
    idmap_put(&names->by_name, (uintptr_t)key, id);
    return strtab_get(names->names, id);
}

const char *readable_path(struct readable_names *names, const char *path)
{
    uint32_t id = path ? idmap_get(&names->by_name, (uintptr_t)path) : IDMAP_NONE;
    if (id != IDMAP_NONE)
        return strtab_get(names->names, id);
    char *copy = path ? strdup(path) : NULL;
    return copy ? keep(names, path, copy) : NULL;
}

const char *readable_name(struct readable_names *names, const char *name)
{
    uint32_t id = idmap_get(&names->by_name, (uintptr_t)name);
    if (id != IDMAP_NONE)
        return strtab_get(names->names, id);
    char *demangled = demangle(name);
    /* A versioned symbol, memcpy@@GLIBC_2.14, is found by its plain name. */
    char *text = demangled ? demangled : strndup(name, strcspn(name, "@"));
    const char *kept = text ? keep(names, name, text) : NULL;
    return kept ? kept : name;
}

/* The target of a direct call relative to the return address, at which `bytes` end; false: they are
 * not a direct call. */
static bool decode_call(unsigned machine, const uint8_t bytes[5], int64_t *ret)
{
    if (machine == ELF_MACHINE_X86_64 || machine == ELF_MACHINE_386) {
        int32_t relative;
        memcpy(&relative, bytes + 1, sizeof(relative));
        *ret = relative;
        return bytes[0] == 0xe8; /* CALL rel32 */
    }
    uint32_t word;
    memcpy(&word, bytes + 1, sizeof(word));
    /* 26 bits, in words, relative to the BL itself */
    *ret = ((int64_t)(int32_t)(word << 6) >> 4) - 4;
    return machine == ELF_MACHINE_AARCH64 && word >> 26 == 0x25u; /* BL */
}

const char *elf_called(struct elf_file *elf, uint64_t offset_bytes)
{
    uint8_t bytes[5];
    uint64_t address, offset;
    int64_t relative;
    if (offset_bytes < sizeof(bytes) ||
        !elf_file_read(elf, offset_bytes - sizeof(bytes), sizeof(bytes), bytes) ||
        !decode_call(elf_file_machine(elf), bytes, &relative) ||
        !elf_file_address(elf, offset_bytes + (uint64_t)relative, &address))
        return NULL;
    const char *name = elf_file_function(elf, address, &offset);
    return name && offset == 0 ? name : NULL;
}

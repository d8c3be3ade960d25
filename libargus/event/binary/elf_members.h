/* Variables by the names of a file's debug information: "app->net->state" instead of
 * "app->0x18->0x8". */
#ifndef ARGUS_EVENT_ELF_MEMBERS_H
#define ARGUS_EVENT_ELF_MEMBERS_H

#include "argus/error.h"
#include "event/binary/elf_file.h"

/* Memory that is reached from a variable. Without links it is `size_bytes` bytes of the variable
 * itself; with links, what *(… *(*(variable) + offsets[0]) …) + offsets[links - 1] names. */
struct elf_reach {
    uint32_t links;
    const int64_t *offsets;
    uint32_t size_bytes;
    uint64_t bits; /* which of these bytes' bits matter; 0: all */
};

struct elf_member {
    char text[512];
    uint32_t name_bytes;    /* of the text: the variable's own name, which may have brackets, too */
    uint32_t skipped_bytes; /* from the beginning of the member to the memory */
    bool is_bit_field;
};

/* A global variable, or the pointer in it. */
struct elf_member_root {
    uint64_t address;
    bool is_thread_local; /* `address` counts from the beginning of the thread-local block */
    uint64_t code; /* an instruction that uses it, whose unit is looked at first; 0: not known */
};

/* False: the file has no debug information, or it names no member on the way. What is behind a
 * pointer without a type keeps its number: "app->private->0x8". */
bool elf_member_text(struct elf_file *file, const struct elf_member_root *root,
                     const struct elf_reach *reach, struct elf_member *ret);

/* A local variable of the function at instruction `code`: the pointer in general register `number`
 * (DWARF's numbers), or, if `number` is ARGUS_NONE, the memory at `address`. */
struct elf_local_root {
    uint64_t code;
    uint32_t number;
    uint64_t address; /* of the process */
    /* the value of a register before that instruction; false: not known */
    bool (*read)(void *context, unsigned number, uint64_t *ret);
    void *context;
};

bool elf_member_local_text(struct elf_file *file, const struct elf_local_root *root,
                           const struct elf_reach *reach, struct elf_member *ret);

#endif

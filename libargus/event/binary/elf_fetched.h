/* Adds files from debuginfod servers to the ELF files of a trace: debug files of stripped files,
 * and files that were deleted. Each is requested once per command and kept as long as the object.
 * One object belongs to one thread.
 */
#ifndef ARGUS_EVENT_ELF_FETCHED_H
#define ARGUS_EVENT_ELF_FETCHED_H

#include "event/binary/debuginfod.h"
#include "event/binary/elf_files.h"

struct elf_fetched_entry {
    struct elf_file *file[DEBUGINFOD_KINDS]; /* owned; NULL: not fetched */
    bool asked[DEBUGINFOD_KINDS];
};

struct elf_fetched {
    struct debuginfod *servers;            /* owned; NULL: fetching is off */
    VEC(struct elf_fetched_entry) entries; /* one for each element of elf_files.files */
};

void elf_fetched_deinit(struct elf_fetched *fetched);

/* Requests failed files again. */
void elf_fetched_renew(struct elf_fetched *fetched);

/* The file of image entry `image`, for which elf_files_get() was called before. NULL: it has no
 * build ID, or no server has it. Borrowed. Addresses in the debug file are those of the original
 * file. */
struct elf_file *elf_fetched_get(struct elf_fetched *fetched, const struct elf_files *files,
                                 uint32_t image, enum debuginfod_kind kind);

#endif

/* The ELF files of a trace's images. Each is opened once, on first use. One object belongs to one
 * thread. */
#ifndef ARGUS_EVENT_ELF_FILES_H
#define ARGUS_EVENT_ELF_FILES_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"

/* A file, identified by path and build ID as images do. */
struct elf_files_entry {
    struct elf_file *elf; /* owned; NULL: missing or stale */
    uint32_t image;       /* index of the image entry that it was opened for */
    bool stale;
    uint8_t lack; /* enum argus_lack: why it is missing */
};

struct elf_files {
    const struct argus_trace *trace;        /* borrowed */
    const struct argus_image_entry *images; /* the trace's */
    size_t image_count;
    /* the machine has not been rebooted since the recording, so recorded processes may still run */
    bool same_boot;
    VEC(struct elf_files_entry) files;
    struct idmap by_image; /* image entry → file, after the first lookup */
    uint64_t until_ns;     /* end of the recording, ns since 1970 */
};

void elf_files_init(struct elf_files *files, const struct argus_trace *trace);
void elf_files_deinit(struct elf_files *files);

/* The file of image entry `image`, borrowed. NULL: it is gone, or is not the file that was executed
 * (`*ret_stale`). */
struct elf_file *elf_files_get(struct elf_files *files, uint32_t image, bool *ret_stale);

/* The index of the file that elf_files_get() looked up, the same for all images of one file;
 * UINT32_MAX: it was not called. */
uint32_t elf_files_number(const struct elf_files *files, uint32_t image);

/* Why elf_files_get() returned NULL. */
enum argus_lack elf_files_lack(const struct elf_files *files, uint32_t image);

#endif

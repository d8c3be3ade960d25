/* The ELF files behind the images of a trace: each is opened once, when it is first asked for. One object belongs to one
 * thread. */
#ifndef ARGUS_EVENT_ELF_FILES_H
#define ARGUS_EVENT_ELF_FILES_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"

/* A file as some images name it: by path and build id. */
struct elf_files_entry {
    struct elf_file *elf; /* owned; NULL: not there, or stale */
    uint32_t image;       /* index of the image entry that it was opened for */
    bool stale;
    uint8_t lack; /* enum argus_lack: why it is not there */
};

struct elf_files {
    const struct argus_trace *trace;        /* borrowed */
    const struct argus_image_entry *images; /* the trace's */
    size_t image_count;
    bool
        same_boot; /* the trace was recorded since this machine was started: its processes may still live */
    VEC(struct elf_files_entry) files;
    struct idmap by_image; /* image entry → file, once it was looked up */
    uint64_t until_ns;     /* when the recording ended, ns since 1970 */
};

void elf_files_init(struct elf_files *files, const struct argus_trace *trace);
void elf_files_deinit(struct elf_files *files);

/* The file of image entry `image`, borrowed. NULL: it is gone, or not the one that ran (`*ret_stale`). */
struct elf_file *elf_files_get(struct elf_files *files, uint32_t image, bool *ret_stale);

/* The index of the file that elf_files_get() looked for, the same for all images of one file; UINT32_MAX: it did not. */
uint32_t elf_files_number(const struct elf_files *files, uint32_t image);

/* Why elf_files_get() found none. */
enum argus_lack elf_files_lack(const struct elf_files *files, uint32_t image);

#endif

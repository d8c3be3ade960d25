/* Stubs for functions of libargus that need ELF files, in builds for macOS. Each returns an error
 * message if a user can reach it. */
#include "argus/data_symbols.h"
#include "argus/unwind.h"
#include "event/binary/elf_exports.h"
#include "event/binary/elf_inlines.h"
#include "event/binary/elf_members.h"
#include "event/binary/elf_needed.h"
#include "event/binary/elf_slots.h"
#include "event/binary/elf_symbols.h"
#include "event/binary/elf_words.h"
#include "event/binary/function_range.h"
#include "event/binary/live_file.h"
#include "event/unwind/live_stack.h"

static struct argus_error *not_here(const char *what)
{
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "%s is not possible in Argus for macOS: it reads ELF files of Linux",
                              what);
}

/* --- elf_needed.h: names and folders must suffice --- */

bool elf_needed_read(const char *path, bool (*each)(void *context, const char *name), void *context)
{
    (void)path;
    (void)each;
    (void)context;
    return true;
}

bool elf_needed_is_program(const char *path)
{
    (void)path;
    return false;
}

/* --- elf_inlines.h: the functions that symbols name must suffice --- */

size_t elf_file_inlines(struct elf_file *file, uint64_t address,
                        struct elf_inline ret[ELF_INLINES_MAX])
{
    (void)file;
    (void)address;
    (void)ret;
    return 0;
}

const char *elf_file_missing_split(const struct elf_file *file, size_t *ret_count)
{
    (void)file;
    *ret_count = 0;
    return NULL;
}

/* --- elf_members.h: offsets must suffice --- */

bool elf_member_text(struct elf_file *file, const struct elf_member_root *root,
                     const struct elf_reach *reach, struct elf_member *ret)
{
    (void)file;
    (void)root;
    (void)reach;
    (void)ret;
    return false;
}

bool elf_member_local_text(struct elf_file *file, const struct elf_local_root *root,
                           const struct elf_reach *reach, struct elf_member *ret)
{
    (void)file;
    (void)root;
    (void)reach;
    (void)ret;
    return false;
}

/* --- elf_symbols.h: probes in libraries are uprobes, which macOS lacks --- */

bool elf_symbols_find(int fd, const char *path, struct elf_wanted *wanted, size_t count)
{
    (void)fd;
    (void)path;
    (void)wanted;
    (void)count;
    return false;
}

bool elf_symbols_each(int fd, const char *path, elf_symbol_visit visit, void *context)
{
    (void)fd;
    (void)path;
    (void)visit;
    (void)context;
    return false;
}

/* --- argus/data_symbols.h: on macOS LLDB finds the flag (argus watchflag in LLDB) --- */

bool argus_data_file_read(const char *path, uint64_t address, void *ret, size_t bytes)
{
    (void)path;
    (void)address;
    (void)ret;
    (void)bytes;
    return false;
}

struct argus_error *argus_data_symbols_each(uint32_t pid, const char *image,
                                            argus_data_symbol_function function, void *context)
{
    (void)pid;
    (void)image;
    (void)function;
    (void)context;
    return not_here("finding a variable of a running process by name");
}

struct argus_error *argus_data_symbol_find(uint32_t pid, const char *image, const char *name,
                                           struct argus_data_symbol *ret, bool *ret_found)
{
    (void)pid;
    (void)image;
    (void)name;
    *ret = (struct argus_data_symbol){0};
    *ret_found = false;
    return not_here("finding a variable of a running process by name");
}

struct argus_error *argus_data_members_read(uint32_t pid, const char *image, const char *text,
                                            struct argus_data_place *ret)
{
    (void)pid;
    (void)image;
    (void)text;
    *ret = (struct argus_data_place){.bytes = 0};
    return not_here("finding a member of a running process by name");
}

struct argus_error *argus_data_file_members_read(const char *path, const char *text,
                                                 struct argus_data_place *ret)
{
    (void)path;
    (void)text;
    *ret = (struct argus_data_place){.bytes = 0};
    return not_here("finding a member of a file by name");
}

struct argus_error *argus_image_base(uint32_t pid, const char *image, uint64_t *ret)
{
    (void)pid;
    (void)image;
    *ret = 0;
    return not_here("finding an image of a running process");
}

struct argus_error *argus_image_at(uint32_t pid, uint64_t address, char *ret_path,
                                   size_t path_bytes, uint64_t *ret_base)
{
    (void)pid;
    (void)address;
    if (path_bytes)
        ret_path[0] = '\0';
    *ret_base = 0;
    return not_here("finding an image of a running process");
}

struct argus_error *argus_data_image_read(const char *path, struct argus_data_image *ret)
{
    (void)path;
    *ret = (struct argus_data_image){0};
    return not_here("planning a watchpoint for a file");
}

struct argus_error *argus_data_file_symbols_each(const char *path,
                                                 argus_data_symbol_function function, void *context)
{
    (void)path;
    (void)function;
    (void)context;
    return not_here("finding a variable of a file by name");
}

struct argus_error *argus_data_file_symbol_find(const char *path, const char *name,
                                                struct argus_data_symbol *ret, bool *ret_found)
{
    (void)path;
    (void)name;
    *ret = (struct argus_data_symbol){0};
    *ret_found = false;
    return not_here("finding a variable of a file by name");
}

/* --- elf_slots.h, and of elf_file.h what reads .eh_frame --- */

void elf_slots_init(struct elf_slots *slots, const struct elf_file *file)
{
    (void)file;
    *slots = (struct elf_slots){0};
}

void elf_slots_deinit(struct elf_slots *slots)
{
    vec_deinit(&slots->all);
}

const struct elf_slot *elf_slots_find(const struct elf_slots *slots, uint64_t place)
{
    (void)slots;
    (void)place;
    return NULL;
}

bool elf_file_function_range(struct elf_file *file, uint64_t address, uint64_t *ret_start,
                             uint64_t *ret_bytes)
{
    (void)file;
    (void)address;
    *ret_start = *ret_bytes = 0;
    return false;
}

/* --- event/binary/function_range.h, event/unwind/live_stack.h: for the recorder's stepping, which
 * is ptrace(2) of Linux --- */

bool function_range_find(const char *path, uint64_t file_offset, uint64_t *ret_start_offset,
                         uint64_t *ret_bytes)
{
    (void)path;
    (void)file_offset;
    *ret_start_offset = *ret_bytes = 0;
    return false;
}

bool function_range_called(const char *path, uint64_t file_offset, uint64_t *ret_offset)
{
    (void)path;
    (void)file_offset;
    *ret_offset = 0;
    return false;
}

size_t live_stack_unwind(const struct live_stack *stack, struct live_frame *ret, size_t room)
{
    (void)stack;
    (void)ret;
    (void)room;
    return 0;
}

/* --- argus/unwind.h --- */

struct argus_error *argus_unwind_trace(struct argus_trace *trace, argus_progress progress,
                                       void *context, struct argus_unwind_totals *ret)
{
    (void)progress;
    (void)context;
    const struct argus_snapshot_counts counts = argus_trace_count_snapshots(trace);
    if (ret)
        *ret = (struct argus_unwind_totals){.locked = counts.locked};
    return counts.plain + counts.encrypted ? not_here("unwinding copied stacks") : NULL;
}

struct argus_error *argus_unwind_file(const char *path, const struct argus_snapshot_key *key,
                                      argus_progress progress, void *context,
                                      struct argus_unwind_totals *ret)
{
    (void)path;
    (void)key;
    (void)progress;
    (void)context;
    if (ret)
        *ret = (struct argus_unwind_totals){0};
    return NULL; /* the recorder for macOS copies no stacks, so its files contain no snapshots */
}

/* --- live_file.h: there is no /proc --- */

int live_file_open(const struct argus_image_entry *image, bool *ret_denied)
{
    (void)image;
    *ret_denied = false;
    return -1;
}

bool elf_export_find(const struct elf_file *file, const char *name, struct elf_export *ret)
{
    (void)file, (void)name, (void)ret;
    return false;
}

bool elf_export_function(const struct elf_file *file, const char *name, uint64_t *ret)
{
    (void)file, (void)name, (void)ret;
    return false;
}

bool elf_export_at(const struct elf_file *file, uint64_t address, struct elf_export *ret)
{
    (void)file, (void)address, (void)ret;
    return false;
}

enum elf_go_code elf_file_go_code(struct elf_file *file, uint64_t address)
{
    (void)file, (void)address;
    return ELF_NOT_GO;
}

bool elf_word_is_constant(const struct elf_file *file, uint64_t address)
{
    (void)file, (void)address;
    return false;
}

bool elf_words_are_final(const struct elf_file *file)
{
    (void)file;
    return false;
}

bool elf_word_pointer(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
    (void)file, (void)address, (void)ret;
    return false;
}

bool elf_function_is_constructor(const struct elf_file *file, uint64_t address)
{
    (void)file, (void)address;
    return false;
}

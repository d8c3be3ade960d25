/* Which variables a thread looks at again and again, by its code (steps/loops/loop_flags.h), and the
 * values that they have now. */
#include <stdio.h>
#include <string.h>

#include "base/hash64.h"
#include "event/binary/elf_exports.h"
#include "event/names/base_library.h"
#include "live/live_sample.h"
#include "live/live_wait.h"
#include "steps/loops/loop_flags.h"
#include "steps/loops/loop_frames.h"

enum { LOOKED_AT = 24, NAME_BYTES = 512, MOST_SEARCHES = 16 };

#if defined(__aarch64__)
static const bool is_arm64 = true;
#else
static const bool is_arm64 = false;
#endif

struct search {
    struct argus_live *live;
    uint32_t pid, left;
};

/* The function `name` of any file of the process; the program's own comes first. */
static struct elf_file *find_function(void *context, const char *name, uint64_t *ret)
{
    struct search *search = context;
    struct elf_file *found = NULL;
    uint64_t address;
    if (!search->left)
        return NULL;
    search->left--;
    struct live_elf *file;
    for (size_t i = 0; (file = live_elf_at(search->live, search->pid, i, NULL)); i++) {
        if (is_base_library(strtab_get(search->live->texts, file->path)) ||
            !elf_export_function(file->elf, name, &address))
            continue;
        if (found && !elf_file_is_program(file->elf))
            continue;
        found = file->elf;
        *ret = address;
    }
    return found;
}

static size_t take_frames(struct argus_live *live, uint32_t pid, const uint64_t *frames,
                          size_t count, bool is_sample, struct loop_frame *ret)
{
    size_t taken = 0;
    for (; taken < count && taken < LOOKED_AT; taken++) {
        struct argus_live_frame frame;
        struct loop_frame *to = &ret[taken];
        uint64_t at = frames[taken] - !(is_sample && taken == 0), in_file;
        struct live_elf *file = live_elf(live, pid, at, &in_file);
        live_stack_name(live, pid, frames[taken], taken > 0, &frame);
        const char *function = frame.function ? strtab_get(live->texts, frame.function) : NULL;
        *to = (struct loop_frame){.is_spin_lock =
                                      function && strcmp(function, "pthread_spin_lock") == 0};
        if (!file)
            break;
        if (is_base_library(strtab_get(live->texts, file->path)) ||
            loop_is_waiting_function(function))
            continue;
        to->file = file->elf;
        to->address = in_file;
    }
    return taken;
}

/* Follows the pointers that lead to the variable. */
static void read_value(uint32_t pid, uint64_t address, const struct loop_flag *flag,
                       struct argus_live_flag *ret)
{
    if (flag->is_thread_local || flag->is_mapped || flag->foreign || flag->local.is_local ||
        flag->elements)
        return;
    for (uint32_t i = 0; i < flag->links; i++) {
        uint64_t pointer;
        if (!live_memory(pid, address, &pointer, sizeof(pointer)))
            return;
        address = pointer + (uint64_t)flag->offsets[i];
    }
    ret->has_value = flag->size_bytes <= sizeof(ret->value) &&
                     live_memory(pid, address, &ret->value, flag->size_bytes);
}

static void tell_flag(struct argus_live *live, uint32_t pid, const struct loop_flag *flag,
                      uint64_t head, struct argus_live_flag *ret)
{
    char name[NAME_BYTES];
    struct elf_member member;
    *ret = (struct argus_live_flag){.size_bytes = flag->size_bytes};
    loop_flag_text(flag, name, sizeof(name));
    ret->name = live_text(live, loop_flag_member(flag, head, &member) ? member.text : name);
    struct live_elf *file;
    uint64_t bias;
    for (size_t i = 0; (file = live_elf_at(live, pid, i, &bias)); i++) {
        if (file->elf != flag->file)
            continue;
        const char *path = strtab_get(live->texts, file->path), *slash = strrchr(path, '/');
        ret->image = live_text(live, slash ? slash + 1 : path);
        read_value(pid, flag->address + bias, flag, ret);
        return;
    }
}

bool live_loop(struct argus_live *live, uint32_t pid, const uint64_t *frames, size_t count,
               bool is_sample, struct argus_live_loop *ret, uint64_t *ret_key)
{
    struct loop_frame taken[LOOKED_AT];
    struct loop_flags flags;
    struct search search = {live, pid, MOST_SEARCHES};
    const struct code_files files = {&search, find_function};
    uint32_t used = (uint32_t)take_frames(live, pid, frames, count, is_sample, taken);
    *ret = (struct argus_live_loop){.flag_count = 0};
    if (!(is_sample ? loop_flags_find_spin : loop_flags_find)(taken, used, is_arm64, &files,
                                                              &flags))
        return false;
    ret->is_whole = flags.is_whole;
    ret->flag_count = flags.count;
    for (uint32_t i = 0; i < flags.count; i++)
        tell_flag(live, pid, &flags.all[i], flags.head, &ret->flags[i]);
    live_stack_name(live, pid, frames[flags.frame], !(is_sample && flags.frame == 0), &ret->place);
    *ret_key = hash64(0, &flags.head, sizeof(flags.head));
    for (uint32_t i = 0; i < flags.count; i++)
        *ret_key = hash64(*ret_key, &ret->flags[i].name, sizeof(ret->flags[i].name));
    return flags.count > 0;
}

void live_loop_of(struct argus_live *live, uint32_t thread, struct argus_live_loop *ret)
{
    uint64_t addresses[LIVE_STACK_FRAMES], key;
    bool is_cut;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    live_loop(live, live_pid_of(live, thread), addresses, count, false, ret, &key);
}

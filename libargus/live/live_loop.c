/* Which variables a thread looks at again and again, by its code (steps/loops/loop_flags.h), and
 * the values that they have now. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash64.h"
#include "event/binary/elf_exports.h"
#include "event/names/base_library.h"
#include "live/live_images.h"
#include "live/live_sample.h"
#include "live/live_wait.h"
#include "steps/loops/loop_flags.h"
#include "steps/loops/loop_frames.h"

enum {
    LOOKED_AT = 24,
    NAME_BYTES = 512,
    MOST_SEARCHES = 16,
    STACK_WORDS = 512, /* that are searched for a lock */
    LEAST_ADDRESS = 65536,
    ADDRESS_BITS = 48,
    LONG_SLEEP_S = 10,
};

#if defined(__aarch64__)
static const bool is_arm64 = true;
#else
static const bool is_arm64 = false;
#endif

struct search {
    struct argus_live *live;
    uint32_t pid, left;
};

/* Whose loop it is. */
struct place {
    struct argus_live *live;
    uint32_t thread, pid;
    uint64_t sp; /* 0: not known */
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

/* Follows the pointers from number `from` on that lead to the variable. */
static bool follow_links(uint32_t pid, const struct loop_flag *flag, uint32_t from,
                         uint64_t *address)
{
    for (uint32_t i = from; i < flag->links; i++) {
        uint64_t pointer;
        if (!live_memory(pid, *address, &pointer, sizeof(pointer)))
            return false;
        *address = pointer + (uint64_t)flag->offsets[i];
    }
    return true;
}

static void read_value(const struct place *place, uint64_t address, const struct loop_flag *flag,
                       struct argus_live_flag *ret)
{
    if (flag->is_thread_local || flag->is_mapped || flag->foreign || flag->local.is_local ||
        flag->elements || !follow_links(place->pid, flag, 0, &address))
        return;
    ret->has_value = flag->size_bytes <= sizeof(ret->value) &&
                     live_memory(place->pid, address, &ret->value, flag->size_bytes);
    if (flag->taken_by)
        ret->holder = live_lock_holder(place->live, place->thread, flag->taken_by, address);
}

/* Where a lock lies if the word of the stack at `at` is, or leads to, what the loop's code has.
 * False: nowhere. */
static bool lock_by_word(const struct place *place, const struct loop_flag *flag, uint64_t at,
                         uint64_t word, uint64_t *ret)
{
    *ret = at;
    if (!flag->links)
        return true;
    *ret = word + (uint64_t)flag->offsets[0];
    return word >= LEAST_ADDRESS && !(word >> ADDRESS_BITS) &&
           follow_links(place->pid, flag, 1, ret);
}

/* A lock on the stack, or in an object that no variable leads to. The loop's function has a pointer
 * to the object, which it or those that it calls keep on the stack. It counts if only one lock is
 * found there that is held. */
static void find_holder(const struct place *place, const struct loop_flag *flag,
                        struct argus_live_flag *ret)
{
    uint64_t words[STACK_WORDS], found = 0, address;
    size_t count =
        place->sp && !flag->elements ? live_words(place->pid, place->sp, words, STACK_WORDS) : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = place->sp + i * sizeof(*words);
        if (!lock_by_word(place, flag, at, words[i], &address) || address == found)
            continue;
        uint32_t holder = live_lock_holder(place->live, place->thread, flag->taken_by, address);
        if (holder == ARGUS_LIVE_NONE)
            continue;
        ret->holder = found ? ARGUS_LIVE_NONE : holder;
        if (found)
            return;
        found = address;
        ret->is_holder_guess = true;
    }
}

/* Of "queue->mutex.__data.__lock", what the library calls its lock's members: names with "__" are
 * its own (C17, 7.1.3). */
static void cut_inside(char *name)
{
    char *inside = strstr(name, ".__");
    if (inside)
        *inside = '\0';
}

static void tell_flag(const struct place *place, const struct loop_flag *flag, uint64_t head,
                      struct argus_live_flag *ret)
{
    struct argus_live *live = place->live;
    uint32_t pid = place->pid;
    char name[NAME_BYTES];
    struct elf_member member;
    *ret = (struct argus_live_flag){
        .size_bytes = flag->size_bytes, .is_lock = flag->is_lock, .holder = ARGUS_LIVE_NONE};
    if (flag->taken_by && flag->local.is_local)
        find_holder(place, flag, ret);
    loop_flag_text(flag, name, sizeof(name));
    if (loop_flag_member(flag, head, &member))
        snprintf(name, sizeof(name), "%s", member.text);
    if (flag->is_lock)
        cut_inside(name);
    ret->name = live_text(live, name);
    struct live_elf *file;
    uint64_t bias;
    for (size_t i = 0; (file = live_elf_at(live, pid, i, &bias)); i++) {
        if (file->elf != flag->file)
            continue;
        const char *path = strtab_get(live->texts, file->path), *slash = strrchr(path, '/');
        ret->image = live_text(live, slash ? slash + 1 : path);
        read_value(place, flag->address + bias, flag, ret);
        return;
    }
}

bool live_loop(struct argus_live *live, uint32_t thread, const uint64_t *frames, size_t count,
               bool is_sample, struct argus_live_loop *ret, uint64_t *ret_key)
{
    uint32_t pid = live_pid_of(live, thread);
    const struct place place = {live, thread, pid, is_sample ? 0 : live->threads.data[thread].sp};
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
        tell_flag(&place, &flags.all[i], flags.head, &ret->flags[i]);
    live_stack_name(live, pid, frames[flags.frame], !(is_sample && flags.frame == 0), &ret->place);
    *ret_key = hash64(0, &flags.head, sizeof(flags.head));
    for (uint32_t i = 0; i < flags.count; i++)
        *ret_key = hash64(*ret_key, &ret->flags[i].name, sizeof(ret->flags[i].name));
    return flags.count > 0;
}

bool live_sleeps_long(const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const char *call = argus_live_call_name(of);
    bool is_clock = call && strcmp(call, "clock_nanosleep") == 0;
    struct timespec time, now = {0};
    if (!call || (!is_clock && strcmp(call, "nanosleep") != 0) ||
        !live_memory(live_pid_of(live, thread), of->arg[is_clock ? 2 : 0], &time, sizeof(time)))
        return false;
    if (is_clock && of->arg[1] & TIMER_ABSTIME)
        clock_gettime((clockid_t)of->arg[0], &now);
    return time.tv_sec >= now.tv_sec + LONG_SLEEP_S; /* time is another process's: any value */
}

void live_loop_of(struct argus_live *live, uint32_t thread, struct argus_live_loop *ret)
{
    uint64_t addresses[LIVE_STACK_FRAMES], key;
    bool is_cut;
    *ret = (struct argus_live_loop){.flag_count = 0};
    if (live_sleeps_long(live, thread))
        return;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    live_loop(live, thread, addresses, count, false, ret, &key);
}

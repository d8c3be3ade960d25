/* The watched flags. A flag's number is its slot, and a slot can be reused. The trace's table of
 * names tells which flag had a number at which time. */
#include "linux/flags/flag_table.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/process_owner.h"
#include "linux/flags/flag_check.h"
#include "linux/flags/flag_memory.h"
#include "linux/shared.h"
#include "server/clocks.h"

#define PROGRAM "on_flag"

#define STUCK                                                                                      \
    "changes it by a load-exclusive and a store-exclusive, which never succeed while the flag is " \
    "watched (a program that was built for ARMv8.1 or later has other instructions); it is not "   \
    "watched any more"

struct argus_error *flags_create(struct bpf_object *object, struct backend *notes,
                                 struct flags **ret)
{
    struct flags *flags = calloc(1, sizeof(*flags));
    if (!flags)
        return argus_error_memory();
    flags->program = bpf_object__find_program_by_name(object, PROGRAM);
    if (bpf_program__fd(flags->program) < 0) {
        free(flags);
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this kernel refuses the program that watches data flags "
                                  "(argus status --verbose says why)");
    }
    flags->map_fd = bpf_object__find_map_fd_by_name(object, "flags");
    flags->notes = notes;
    *ret = flags;
    return NULL;
}

void flag_table_clear(struct flags *flags, uint32_t place)
{
    struct flag *flag = &flags->flags[place];
    const struct bpf_flag nothing = {0};
    bpf_map_update_elem(flags->map_fd, &place, &nothing, BPF_ANY);
    flag_threads_deinit(&flag->threads);
    *flag = (struct flag){0};
}

void flags_detach(struct flags *flags)
{
    for (uint32_t i = 0; flags && i < FLAG_LIMIT; i++)
        flag_table_clear(flags, i);
    for (uint32_t i = 0; flags && i < FLAG_PLANS; i++)
        flags->plans[i] = (struct flag_plan){0};
    if (flags)
        flags->program = NULL;
}

void flags_destroy(struct flags *flags)
{
    if (!flags)
        return;
    flags_detach(flags);
    for (size_t i = 0; i < flags->names.length; i++)
        free((char *)flags->names.data[i].label);
    vec_deinit(&flags->names);
    vec_deinit(&flags->shared);
    free(flags);
}

/* --- names --- */

static struct argus_error *add_name(struct flags *flags, const struct flag *flag, uint64_t value)
{
    struct argus_flag_entry entry = {
        .number = (uint32_t)flags->names.length + 1,
        .pid = flag->wanted.pid,
        .address = flag->address,
        .bytes = flag->wanted.bytes,
        .semantics = flag->wanted.semantics,
        .since_ticks = flag->since_ns,
        .value = value,
        .label = strdup(flag->wanted.label),
    };
    if (entry.label && vec_push(&flags->names, entry))
        return NULL;
    free((char *)entry.label);
    return argus_error_memory();
}

static bool note_shared(struct flags *flags, const struct flag *flag)
{
    struct argus_record record;
    if (!flag_memory_shared(flag->wanted.pid, flag->address, &record))
        return true;
    record.timestamp = flag->since_ns;
    return vec_push(&flags->shared, record);
}

bool flags_take_shared(struct flags *flags, record_list *ret)
{
    for (size_t i = 0; flags && i < flags->shared.length; i++)
        if (!vec_push(ret, flags->shared.data[i]))
            return false;
    if (flags)
        flags->shared.length = 0;
    return true;
}

struct argus_error *flags_write(const struct flags *flags, struct argus_writer *writer)
{
    if (!flags || !flags->names.length)
        return NULL;
    return argus_writer_flags(writer, flags->names.data, flags->names.length);
}

/* --- one flag --- */

static struct argus_error *find_place(const struct flags *flags, uint32_t pid, uint64_t address,
                                      uint32_t *ret)
{
    *ret = FLAG_LIMIT;
    for (uint32_t i = 0; i < FLAG_LIMIT; i++) {
        const struct flag *other = &flags->flags[i];
        if (!other->wanted.bytes && *ret == FLAG_LIMIT)
            *ret = i;
        if (other->wanted.bytes && other->wanted.pid == pid && address && other->address == address)
            return argus_error_create(ARGUS_ERROR_BUSY,
                                      "that address is watched already, as flag %u", i + 1);
    }
    return *ret < FLAG_LIMIT
               ? NULL
               : argus_error_create(ARGUS_ERROR_USAGE, "limit reached: at most %d watched flags",
                                    FLAG_LIMIT);
}

/* Watches a flag whose address is known now. */
static struct argus_error *begin(struct flags *flags, uint32_t place)
{
    struct flag *flag = &flags->flags[place];
    uint64_t value;
    struct argus_error *error =
        flag_memory_read(flag->wanted.pid, flag->address, flag->wanted.bytes, &value);
    /* The image is only partly mapped yet. */
    if (error && !(flag->plan && error->code == ARGUS_ERROR_USAGE))
        return error;
    argus_error_destroy(error);
    struct bpf_flag described = {.address = flag->address,
                                 .value = value,
                                 .tgid = flag->wanted.pid,
                                 .bytes = flag->wanted.bytes,
                                 .access = flag->wanted.access,
                                 .number = place + 1};
    if (bpf_map_update_elem(flags->map_fd, &place, &described, BPF_ANY) < 0)
        return argus_error_os(errno, "cannot tell the kernel which flag to watch");
    flag->since_ns = clock_ns(CLOCK_MONOTONIC);
    error = note_shared(flags, flag) ? add_name(flags, flag, value) : argus_error_memory();
    if (!error)
        error = flag_check_kernel(&flags->is_checked, flags->program);
    return error
               ? error
               : flag_threads_attach(&flag->threads, flags->program, &flag->wanted, flag->address);
}

struct argus_error *flag_table_watch(struct flags *flags, const struct request_flag *wanted,
                                     uint32_t plan, uint32_t *ret_number)
{
    uint64_t address;
    uint32_t place;
    struct argus_error *error = flag_memory_follow(wanted, &address);
    /* the process is still mapping its files; the one with the pointer may not be mapped yet */
    if (error && plan && error->code == ARGUS_ERROR_USAGE) {
        argus_error_destroy(error);
        error = NULL;
        address = 0;
    }
    if (!error && !address && !plan)
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "a pointer on the way to '%s' is null now: wait until it is set",
                                   wanted->label);
    if (!error)
        error = find_place(flags, wanted->pid, address, &place);
    if (error)
        return error;
    struct flag *flag = &flags->flags[place];
    *flag = (struct flag){.wanted = *wanted, .address = address, .plan = plan};
    error = address ? begin(flags, place) : NULL;
    if (error)
        flag_table_clear(flags, place);
    else
        *ret_number = place + 1;
    return error;
}

static struct bpf_flag kernel_flag(const struct flags *flags, uint32_t place)
{
    struct bpf_flag flag = {0};
    bpf_map_lookup_elem(flags->map_fd, &place, &flag);
    return flag;
}

uint64_t flag_table_hits(const struct flags *flags, uint32_t place)
{
    return kernel_flag(flags, place).hits;
}

/* --- what the recorder asks for --- */

struct argus_error *flags_add(struct flags *flags, const struct request_flag *wanted, uid_t owner,
                              uint32_t *ret_number)
{
    if (!wanted->pid)
        return flag_plan_add(flags, wanted, owner, ret_number);
    struct argus_error *error = process_check_owner("watch", wanted->pid, owner);
    return error ? error : flag_table_watch(flags, wanted, 0, ret_number);
}

static bool is_used(const struct flags *flags, uint32_t number)
{
    if (!flags || number < 1 || number > FLAG_NUMBERS)
        return false;
    return number <= FLAG_LIMIT ? flags->flags[number - 1].wanted.bytes
                                : flags->plans[number - 1 - FLAG_LIMIT].wanted.bytes;
}

struct argus_error *flags_remove(struct flags *flags, uint32_t number)
{
    if (!is_used(flags, number))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no flag %u", number);
    if (number <= FLAG_LIMIT)
        flag_table_clear(flags, number - 1);
    else
        flag_plan_remove(flags, number - 1 - FLAG_LIMIT);
    return NULL;
}

bool flags_get(const struct flags *flags, uint32_t number, struct reply_flag *ret)
{
    if (!is_used(flags, number))
        return false;
    bool plan = number > FLAG_LIMIT;
    const struct flag *flag = plan ? NULL : &flags->flags[number - 1];
    const struct request_flag *wanted =
        plan ? &flags->plans[number - 1 - FLAG_LIMIT].wanted : &flag->wanted;
    struct bpf_flag seen = {0};
    if (!plan)
        seen = kernel_flag(flags, number - 1);
    *ret = (struct reply_flag){
        .number = number,
        .pid = wanted->pid,
        .address = plan ? 0 : flag->address,
        .bytes = wanted->bytes,
        .access = wanted->access,
        .semantics = wanted->semantics,
        .hits = plan ? flags->plans[number - 1 - FLAG_LIMIT].watched : seen.hits,
        .writes = (uint32_t)seen.writes,
    };
    memcpy(ret->label, wanted->label, sizeof(ret->label));
    return true;
}

/* --- what becomes of them --- */

static void end(struct flags *flags, uint32_t place, const char *why)
{
    const struct flag *flag = &flags->flags[place];
    backend_note(flags->notes, "flag %u (%s): process %u %s, after %llu hits", place + 1,
                 flag->wanted.label, flag->wanted.pid, why,
                 (unsigned long long)flag_table_hits(flags, place));
    flag_table_clear(flags, place);
}

void flags_on_exec(struct flags *flags, uint32_t pid, uint64_t time_ns)
{
    for (uint32_t i = 0; flags && i < FLAG_LIMIT; i++)
        if (flags->flags[i].wanted.bytes && flags->flags[i].wanted.pid == pid &&
            flags->flags[i].since_ns < time_ns)
            end(flags, i, "has begun another program (exec), and is not watched any more");
}

static void look_at(struct flags *flags, uint32_t place)
{
    struct flag *flag = &flags->flags[place];
    if (kill((pid_t)flag->wanted.pid, 0) < 0 && errno == ESRCH) {
        end(flags, place, "has ended");
        return;
    }
    if (flag->address && kernel_flag(flags, place).stuck_tid)
        end(flags, place, STUCK);
    if (flag->address || !flag->wanted.bytes)
        return;
    struct argus_error *error = flag_memory_follow(&flag->wanted, &flag->address);
    if (!error && flag->address)
        error = begin(flags, place);
    else if (error && error->code == ARGUS_ERROR_USAGE) { /* the pointer is not valid yet */
        argus_error_destroy(error);
        error = NULL;
    }
    if (error) {
        backend_note(flags->notes, "%s is not watched in process %u: %s", flag->wanted.label,
                     flag->wanted.pid, error->message);
        flag_table_clear(flags, place);
    }
    argus_error_destroy(error);
}

void flags_look(struct flags *flags)
{
    for (uint32_t i = 0; flags && flags->program && i < FLAG_LIMIT; i++)
        if (flags->flags[i].wanted.bytes)
            look_at(flags, i);
}

bool flags_awaited(const struct flags *flags)
{
    bool awaited = false;
    for (uint32_t i = 0; flags && i < FLAG_PLANS; i++)
        awaited |= flags->plans[i].wanted.bytes != 0;
    for (uint32_t i = 0; flags && i < FLAG_LIMIT; i++)
        awaited |= flags->flags[i].wanted.bytes && !flags->flags[i].address;
    return awaited;
}

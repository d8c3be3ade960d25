#include "plugin/commands/hang_quota.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "argus/kept_hang.h"
#include "base/overlap.h"
#include "base/vec.h"

/* --- choosing files --- */

static int compare_newest_first(const void *a, const void *b)
{
    const struct hang_file *x = a, *y = b;
    if (x->wall_ns != y->wall_ns)
        return x->wall_ns > y->wall_ns ? -1 : 1;
    return strcmp(y->name, x->name);
}

static bool same_program(const struct hang_file *a, const struct hang_file *b)
{
    return strcmp(a->process, b->process) == 0;
}

static bool same_kind(const struct hang_file *a, const struct hang_file *b)
{
    return a->signature == b->signature && same_program(a, b);
}

static bool same_freeze(const struct hang_file *a, const struct hang_file *b)
{
    uint64_t both_ns = overlap_ns(a->wall_ns, a->wall_ns + a->duration_ns, b->wall_ns,
                                  b->wall_ns + b->duration_ns);
    uint64_t shorter_ns = a->duration_ns < b->duration_ns ? a->duration_ns : b->duration_ns;
    return a->tid == b->tid && a->pid == b->pid && same_program(a, b) && both_ns > shorter_ns / 2;
}

/* Of two files of one freeze, the first one stays, whose notification the user has seen, unless the
 * other one shows much more of it. */
static void drop_twins(struct hang_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && !files[i].drop; k++) {
            if (files[k].drop || !same_freeze(&files[i], &files[k]))
                continue;
            bool i_is_first = files[i].order_ns < files[k].order_ns;
            struct hang_file *first = i_is_first ? &files[i] : &files[k];
            struct hang_file *later = i_is_first ? &files[k] : &files[i];
            bool more = later->duration_ns / 2 > first->duration_ns;
            struct hang_file *twin = more ? first : later;
            twin->drop = twin->is_twin = true;
        }
}

/* Ranks the files of one kind, which are sorted: the longest hang gets place 0, among equals the
 * newest. */
static void give_places(struct hang_file *files, size_t count, size_t first)
{
    size_t longest = first, place = 1;
    for (size_t i = first; i < count; i++)
        if (!files[i].is_twin && same_kind(&files[i], &files[first]) &&
            files[i].duration_ns > files[longest].duration_ns)
            longest = i;
    for (size_t i = first; i < count; i++)
        if (!files[i].is_twin && same_kind(&files[i], &files[first]))
            files[i].place = i == longest ? 0 : place++;
}

static bool is_first_of_kind(const struct hang_file *files, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!files[i].is_twin && same_kind(&files[i], &files[at]))
            return false;
    return true;
}

static void count_siblings(struct hang_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        files[i].sibling_count = 0;
        for (size_t k = 0; k < count; k++)
            files[i].sibling_count += !files[k].drop && same_program(&files[i], &files[k]);
    }
}

static void drop(struct hang_file *files, size_t count, struct hang_file *file)
{
    file->drop = true;
    for (size_t i = 0; i < count; i++)
        files[i].sibling_count -= same_program(&files[i], file);
}

/* The file to delete first: one of the program with the most files, with the highest place in its
 * kind; the oldest of these, but never the newest file of all. */
static struct hang_file *least(struct hang_file *files, size_t count)
{
    struct hang_file *found = NULL;
    for (size_t i = 1; i < count; i++) {
        struct hang_file *file = &files[i];
        if (file->drop || (found && file->sibling_count < found->sibling_count))
            continue;
        if (!found || file->sibling_count > found->sibling_count || file->place >= found->place)
            found = file;
    }
    return found;
}

void hang_quota_choose(struct hang_file *files, size_t count, const struct hang_quota *quota)
{
    uint64_t bytes = 0;
    if (count)
        qsort(files, count, sizeof(*files), compare_newest_first);
    drop_twins(files, count);
    for (size_t i = 0; i < count; i++)
        if (!files[i].is_twin && is_first_of_kind(files, i))
            give_places(files, count, i);
    for (size_t i = 0; i < count; i++) {
        files[i].drop = files[i].is_twin || files[i].place >= quota->most_of_kind;
        bytes += files[i].drop ? 0 : files[i].bytes;
    }
    struct hang_file *file;
    count_siblings(files, count);
    while (bytes > quota->most_bytes && (file = least(files, count))) {
        drop(files, count, file);
        bytes -= file->bytes;
    }
}

/* --- the folder --- */

typedef VEC(struct hang_file) file_vec;

/* The position after exactly `count` digits at `at`; NULL: there are fewer or more. */
static const char *skip_digits(const char *at, size_t count)
{
    return strspn(at, "0123456789") == count ? at + count : NULL;
}

bool hang_quota_is_name(const char *name)
{
    /* …-20261123T143210.argus or …-20261123T143210-2.argus */
    const char *at = strrchr(name, 'T');
    if (strncmp(name, "hang-", 5) != 0 || !at || at - name < 14 || at[-9] != '-' ||
        skip_digits(at - 8, 8) != at || !(at = skip_digits(at + 1, 6)))
        return false;
    if (*at == '-')
        at += 1 + strspn(at + 1, "0123456789");
    return strcmp(at, ".argus") == 0;
}

/* Skips files that cannot be read, belong to another user, or were not kept for a hang. False
 * without memory. */
static bool consider(const char *name, file_vec *ret)
{
    struct hang_file file = {.signature = 0};
    struct argus_kept_hang kept;
    struct argus_trace *trace;
    struct stat status;
    bool good = true;
    if (!hang_quota_is_name(name) || lstat(name, &status) < 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid())
        return true;
    struct argus_error *error = argus_trace_open(name, &trace);
    if (error) {
        argus_error_destroy(error);
        return true;
    }
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    if (argus_kept_hang_get(trace, &kept)) {
        snprintf(file.name, sizeof(file.name), "%s", name);
        memcpy(file.process, kept.process, sizeof(file.process));
        file.signature = kept.diagnosed ? kept.signature : 0;
        file.wall_ns = argus_trace_ns_to_wall_ns(trace, kept.start_ns);
        file.duration_ns = kept.duration_ns;
        file.pid = kept.pid;
        file.tid = kept.tid;
        file.order_ns = argus_trace_ns_to_wall_ns(trace, end_ns);
        file.bytes = (uint64_t)status.st_size;
        good = vec_push(ret, file);
    }
    argus_trace_close(trace);
    return good;
}

static struct argus_error *read_folder(file_vec *ret)
{
    DIR *folder = opendir(".");
    const struct dirent *entry;
    bool good = true;
    if (!folder)
        return argus_error_os(errno, "cannot read the folder of hangs");
    while (good && (entry = readdir(folder)))
        good = consider(entry->d_name, ret);
    closedir(folder);
    return good ? NULL : argus_error_memory();
}

/* Deletes a trace and its sidecar files. */
static struct argus_error *delete_file(const char *name)
{
    static const char *const suffixes[] = {".graph", ".answers", ".html"};
    char sidecar[NAME_MAX + 16];
    if (unlink(name) < 0 && errno != ENOENT)
        return argus_error_os(errno, "cannot delete %s", name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(sidecar, sizeof(sidecar), "%s%s", name, suffixes[i]);
        unlink(sidecar);
    }
    return NULL;
}

/* Whether a file of the same kind as `name` is to be deleted. */
static bool is_full(const file_vec *files, const char *name)
{
    const struct hang_file *written = NULL;
    for (size_t i = 0; i < files->length; i++)
        if (strcmp(files->data[i].name, name) == 0)
            written = &files->data[i];
    for (size_t i = 0; written && i < files->length; i++)
        if (files->data[i].drop && !files->data[i].is_twin && same_kind(&files->data[i], written))
            return true;
    return false;
}

struct argus_error *hang_quota_apply(const struct hang_quota *quota, const char *name,
                                     bool *ret_full)
{
    file_vec files = {0};
    struct argus_error *error = read_folder(&files);
    *ret_full = false;
    if (!error) {
        hang_quota_choose(files.data, files.length, quota);
        *ret_full = is_full(&files, name);
    }
    for (size_t i = 0; !error && i < files.length; i++)
        if (files.data[i].drop)
            error = delete_file(files.data[i].name);
    vec_deinit(&files);
    return error;
}

/* A uprobe is a breakpoint in a file: the kernel inserts it into every process that has mapped the
 * file or will map it, and removes it from all of them when the last descriptor of the attachment
 * is closed, also if the recorder is killed.
 *
 * Since Linux 6.6 one attachment can have many places in a file (uprobe_multi), and removing them
 * is fast. Before, each place is a perf event, and the kernel waits for a grace period, about 0.1
 * s, at each one's end (measured: 3.5 s for 38 of them). That is why they are muted first.
 *
 * The kernel needs a path. The recorder passes the path of its own descriptor. So the probed file
 * is the one that the front end has opened and examined, even if its path has changed or is in
 * another mount namespace.
 */
#include "linux/probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "argus/record.h"

#define TRACE_UPROBE_MULTI       48 /* enum bpf_attach_type, include/uapi/linux/bpf.h of Linux 6.6 */
#define FLAG_UPROBE_MULTI_RETURN 1

/* The argument of bpf(BPF_LINK_CREATE) for uprobe_multi; Debian 12's headers are older. */
struct multi_link {
    uint32_t program_fd, target_fd, attach_type, flags;
    uint64_t path, offsets, reference_counters, cookies;
    uint32_t count, multi_flags, pid, padding;
};

/* One attachment: of one probe, or of all in one file. */
struct attachment {
    uint32_t group; /* see group_of() */
    int fd;
};

struct single {
    uint32_t number; /* of the probe */
    struct bpf_link *link;
};

struct probes {
    struct bpf_object *object;     /* borrowed */
    const struct probe_list *list; /* borrowed */
    struct bpf_program *program;
    bool is_multi;
    bool taken_out[PROBE_LIMIT]; /* by number */
    VEC(struct single) singles;
    VEC(struct attachment) attachments;
};

static bool has_multi(const struct btf *btf)
{
    return btf__find_by_name_kind(btf, "bpf_uprobe_multi_link", BTF_KIND_STRUCT) >= 0;
}

void probes_prepare(struct bpf_object *object, const struct btf *btf, const struct probe_list *list)
{
    struct bpf_program *program = bpf_object__find_program_by_name(object, PROBE_PROGRAM);
    if (!list || list->probes.length == 0)
        bpf_program__set_autoload(program, false);
    else if (has_multi(btf))
        bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

struct argus_error *probes_create(struct bpf_object *object, const struct btf *btf,
                                  const struct probe_list *list, struct probes **ret)
{
    struct probes *probes = calloc(1, sizeof(*probes));
    if (!probes)
        return argus_error_memory();
    probes->object = object;
    probes->list = list;
    probes->program = bpf_object__find_program_by_name(object, PROBE_PROGRAM);
    probes->is_multi = has_multi(btf);
    *ret = probes;
    return NULL;
}

static bool is_hook(const struct probe *probe)
{
    return probe->spec.flags & PROBE_HOOK;
}

static void put_path(const struct probes *probes, uint32_t file, size_t room, char *ret)
{
    snprintf(ret, room, "/proc/self/fd/%d", probes->list->files.data[file].fd);
}

/* --- many places in one file --- */

struct places {
    VEC(uint64_t) offsets;
    VEC(uint64_t) cookies;
};

static bool is_return(const struct probe *probe)
{
    return probe->spec.flags & PROBE_RETURN;
}

/* The group of a probe: those of one file that can be attached together. */
static uint32_t group_of(uint32_t file, bool at_return)
{
    return 2 * file + at_return;
}

static bool collect(const struct probes *probes, uint32_t group, struct places *places)
{
    places->offsets.length = places->cookies.length = 0;
    for (size_t i = 0; i < probes->list->probes.length; i++) {
        const struct probe *probe = &probes->list->probes.data[i];
        if (!is_hook(probe) && group_of(probe->file, is_return(probe)) == group &&
            !probes->taken_out[probe->entry.number] &&
            (!vec_push(&places->offsets, probe->offset) ||
             !vec_push(&places->cookies, probe->entry.number)))
            return false;
    }
    return true;
}

/* Places `first` to `first` + `count` in one attachment; 0 or an error number. */
static int link_places(struct probes *probes, uint32_t group, const struct places *places,
                       size_t first, size_t count)
{
    char path[64];
    put_path(probes, group / 2, sizeof(path), path);
    struct multi_link link = {
        .program_fd = (uint32_t)bpf_program__fd(probes->program),
        .attach_type = TRACE_UPROBE_MULTI,
        .path = (uintptr_t)path,
        .offsets = (uintptr_t)(places->offsets.data + first),
        .cookies = (uintptr_t)(places->cookies.data + first),
        .count = (uint32_t)count,
        .multi_flags = group % 2 ? FLAG_UPROBE_MULTI_RETURN : 0,
    };
    int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
    if (fd < 0)
        return errno;
    if (vec_push(&probes->attachments, (struct attachment){group, fd}))
        return 0;
    close(fd);
    return ENOMEM;
}

static const struct probe *by_number(const struct probes *probes, uint64_t number)
{
    const struct probe *probe = probes->list->probes.data;
    while (probe->entry.number != number)
        probe++;
    return probe;
}

/* If the kernel refuses one place, it refuses all of them. Then each is tried separately. */
static void attach_places(struct probes *probes, uint32_t group, const struct places *places,
                          probes_refused refused, void *context)
{
    size_t count = places->offsets.length;
    if (count == 0 || link_places(probes, group, places, 0, count) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        int failed = link_places(probes, group, places, i, 1);
        if (failed)
            refused(context, by_number(probes, places->cookies.data[i]), failed);
    }
}

static struct argus_error *attach_group(struct probes *probes, uint32_t group,
                                        probes_refused refused, void *context)
{
    struct places places = {0};
    bool done = collect(probes, group, &places);
    if (done)
        attach_places(probes, group, &places, refused, context);
    vec_deinit(&places.offsets);
    vec_deinit(&places.cookies);
    return done ? NULL : argus_error_memory();
}

static struct argus_error *attach_multi(struct probes *probes, probes_refused refused,
                                        void *context)
{
    struct argus_error *error = NULL;
    for (uint32_t group = 0; group < 2 * probes->list->files.length && !error; group++)
        error = attach_group(probes, group, refused, context);
    return error;
}

static void detach_group(struct probes *probes, uint32_t group)
{
    size_t kept = 0;
    for (size_t i = 0; i < probes->attachments.length; i++) {
        const struct attachment attachment = probes->attachments.data[i];
        if (attachment.group == group)
            close(attachment.fd);
        else
            probes->attachments.data[kept++] = attachment;
    }
    probes->attachments.length = kept;
}

/* --- each by itself --- */

static struct argus_error *attach_single(struct probes *probes, probes_refused refused,
                                         void *context)
{
    for (size_t i = 0; i < probes->list->probes.length; i++) {
        const struct probe *probe = &probes->list->probes.data[i];
        char path[64];
        if (is_hook(probe))
            continue;
        LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = probe->entry.number,
                    .retprobe = is_return(probe));
        put_path(probes, probe->file, sizeof(path), path);
        struct bpf_link *link =
            bpf_program__attach_uprobe_opts(probes->program, -1, path, probe->offset, &options);
        if (!link) {
            refused(context, probe, errno);
        } else if (!vec_push(&probes->singles, (struct single){probe->entry.number, link})) {
            bpf_link__destroy(link);
            return argus_error_memory();
        }
    }
    return NULL;
}

static int describe(const struct probes *probes, uint32_t number, const struct probe_spec *spec)
{
    int map = bpf_object__find_map_fd_by_name(probes->object, "probes");
    return bpf_map_update_elem(map, &number, spec, BPF_ANY) < 0 ? errno : 0;
}

struct argus_error *probes_attach(struct probes *probes, probes_refused refused, void *context)
{
    if (!probes)
        return NULL;
    for (size_t i = 0; i < probes->list->probes.length; i++) {
        const struct probe *probe = &probes->list->probes.data[i];
        int failed = is_hook(probe) ? 0 : describe(probes, probe->entry.number, &probe->spec);
        if (failed)
            return argus_error_os(failed, "cannot tell the kernel what a probe means");
    }
    return probes->is_multi ? attach_multi(probes, refused, context)
                            : attach_single(probes, refused, context);
}

static void detach_single(struct probes *probes, uint32_t number)
{
    for (size_t i = 0; i < probes->singles.length; i++) {
        if (probes->singles.data[i].number != number)
            continue;
        bpf_link__destroy(probes->singles.data[i].link);
        probes->singles.data[i--] = probes->singles.data[--probes->singles.length];
    }
}

/* The others in the file are attached again, so their hits are lost for a moment. */
struct argus_error *probes_take_out(struct probes *probes, const struct probe *probe,
                                    probes_refused refused, void *context)
{
    const struct probe_spec nothing = {0};
    uint32_t group = group_of(probe->file, is_return(probe));
    probes->taken_out[probe->entry.number] = true;
    describe(probes, probe->entry.number, &nothing);
    if (!probes->is_multi) {
        detach_single(probes, probe->entry.number);
        return NULL;
    }
    detach_group(probes, group);
    return attach_group(probes, group, refused, context);
}

bool probes_is_attached(const struct probes *probes, const struct probe *probe)
{
    return !is_hook(probe) && !probes->taken_out[probe->entry.number];
}

uint64_t probes_hits(const struct probes *probes, const struct probe *probe)
{
    int map = bpf_object__find_map_fd_by_name(probes->object, "probe_hits");
    uint64_t hits = 0;
    uint32_t number = probe->entry.number;
    return bpf_map_lookup_elem(map, &number, &hits) < 0 ? 0 : hits;
}

const struct probe_list *probes_list(const struct probes *probes)
{
    return probes->list;
}

void probes_mute(struct probes *probes)
{
    const struct probe_spec nothing = {0};
    for (size_t i = 0; probes && i < probes->list->probes.length; i++)
        if (!is_hook(&probes->list->probes.data[i]))
            describe(probes, probes->list->probes.data[i].entry.number, &nothing);
}

void probes_unmute(struct probes *probes)
{
    for (size_t i = 0; probes && i < probes->list->probes.length; i++) {
        const struct probe *probe = &probes->list->probes.data[i];
        if (probes_is_attached(probes, probe))
            describe(probes, probe->entry.number, &probe->spec);
    }
}

void probes_destroy(struct probes *probes)
{
    if (!probes)
        return;
    for (size_t i = 0; i < probes->singles.length; i++)
        bpf_link__destroy(probes->singles.data[i].link);
    for (size_t i = 0; i < probes->attachments.length; i++)
        close(probes->attachments.data[i].fd);
    vec_deinit(&probes->singles);
    vec_deinit(&probes->attachments);
    free(probes);
}

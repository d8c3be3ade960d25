#include "plugin/steps/loop_variable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "argus/diverge.h"
#include "plugin/steps/step_place.h"
#include "plugin/steps/step_session.h"
#include "steps/watch_command.h"
#include "trace/file.h"

enum {
    MOST_STEPS = 5000, /* some turns, also of unoptimized code */
};
#define MOST_NS   3000000000u
#define ARRIVE_NS 10000000000u

/* "rbx->0x18" is of use for one moment only: of a path that begins at a register, the last field is
 * told. */
static bool begins_at_register(const struct argus_flag_candidate *from)
{
    return !from->member && from->path && !from->image && !strstr(from->path, "()");
}

static void name_field(const char *path, char *buffer, size_t bytes)
{
    const char *last = path, *found;
    while ((found = strstr(last, "->")) != NULL)
        last = found + 2;
    snprintf(buffer, bytes, "the field at %s%s of an object", *last == '-' ? "" : "+", last);
}

void stepped_variable_name(const struct argus_flag_candidate *from, char *buffer, size_t bytes)
{
    if (begins_at_register(from)) {
        name_field(from->path, buffer, bytes);
        return;
    }
    const char *name = from->member ? from->member : from->path ? from->path : from->symbol;
    if (!name)
        snprintf(buffer, bytes, "0x%" PRIx64, from->address);
    else if (name == from->symbol && from->symbol_offset)
        snprintf(buffer, bytes, "%s+0x%" PRIx64, name, from->symbol_offset);
    else
        snprintf(buffer, bytes, "%s", name);
}

static void take_candidate(const struct argus_flag_candidate *from, struct loop_variables *ret)
{
    uint32_t bytes = watchable_bytes(from->address, from->size_bytes);
    if (from->role != ARGUS_FLAG_CANDIDATE || !from->address || !bytes ||
        ret->count == LOOP_VARIABLES_MAX)
        return;
    struct loop_variable *taken = &ret->all[ret->count++];
    *taken = (struct loop_variable){
        .address = from->address,
        .bytes = bytes,
        .is_local =
            from->where == ARGUS_FLAG_STACK || (from->where == ARGUS_FLAG_HEAP && !from->path),
        .is_on_stack = from->where == ARGUS_FLAG_STACK,
    };
    stepped_variable_name(from, taken->name, sizeof(taken->name));
}

static struct argus_error *read_steps(const char *path, struct loop_variables *ret)
{
    struct argus_steps *steps = NULL;
    struct argus_divergence *divergence = NULL;
    struct argus_error *error = argus_steps_open(path, &steps);
    if (!error)
        error = argus_diverge(NULL, steps, &divergence);
    for (size_t i = 0; !error && i < divergence->candidate_count; i++)
        take_candidate(&divergence->candidates[i], ret);
    argus_divergence_destroy(divergence);
    argus_steps_close(steps);
    return error;
}

static struct argus_error *step_thread(struct session *session, uint32_t pid, uint32_t tid, int fd)
{
    struct step_outcome outcome;
    struct step_wanted wanted = {
        .request = {.magic = STEP_MAGIC,
                    .version = STEP_VERSION,
                    .flags = STEP_FROM_ANYWHERE,
                    .pid = pid,
                    .tid = tid,
                    .most_steps = MOST_STEPS,
                    .duration_ns = MOST_NS,
                    .arrive_ns = ARRIVE_NS},
        .begin_text = "where the thread was",
        .vertex = ARGUS_NONE,
    };
    snprintf(wanted.request.skip, sizeof(wanted.request.skip), "%s", step_default_skip);
    const struct argus_output to = file_output(fd);
    return step_session_run(session, &wanted, &to, NULL, &outcome);
}

/* A file of which nothing remains if this process is killed: the registers in it are secret. */
static int unnamed_file(void)
{
#ifdef __linux__
    return memfd_create("argus-loop", MFD_CLOEXEC);
#else
    char path[] = "/tmp/argus-loop-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
#endif
}

struct argus_error *loop_variables_find(struct session *session, uint32_t pid, uint32_t tid,
                                        struct loop_variables *ret)
{
    char path[64];
    *ret = (struct loop_variables){.count = 0};
    int fd = unnamed_file();
    if (fd < 0)
        return argus_error_os(errno, "cannot create a temporary file");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct argus_error *error = step_thread(session, pid, tid, fd);
    if (!error && session_interrupted(session)) /* some steps, which may not tell the variable */
        error = session_interrupt_error();
    if (!error)
        error = read_steps(path, ret);
    close(fd);
    if (!error && !ret->count)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                   "thread %u goes round a loop, but no variable decides how it "
                                   "ends, or its address is not known",
                                   tid);
    return error;
}

bool loop_variable_is_called(const struct loop_variable *variable, const char *name)
{
    const char *own = variable->name;
    while (*name && *name == *own) {
        size_t digits = *name == '[' ? strspn(own + 1, "0123456789") : 0;
        bool is_any = digits && strncmp(name, "[i]", 3) == 0 && own[1 + digits] == ']';
        name += is_any ? 3 : 1;
        own += is_any ? digits + 2 : 1;
    }
    return *name == *own;
}

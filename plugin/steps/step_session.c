#include "plugin/steps/step_session.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/server/outlet.h"
#include "trace/file.h"

static void collector_describe(struct step_collector *collector, const struct step_wanted *wanted)
{
    collector->about.vertex = wanted->vertex;
    collector->about.trace_identity = wanted->trace_identity;
    collector->about.trace = wanted->trace ? wanted->trace : "";
    collector->about.begin_text = wanted->begin_text;
    collector->about.begin = wanted->request.flags & STEP_FROM_ANYWHERE ? ARGUS_STEP_BEGIN_ANYWHERE
                                                                        : ARGUS_STEP_BEGIN_PLACE;
}

static void show_progress(struct session *session, const struct step_wanted *wanted,
                          const struct step_collector *collector)
{
    uint64_t steps = collector->counts[STEP_ITEM_STEP];
    if (!collector->begun)
        session_progress(session, "waiting for the thread to come there", 0, 0);
    else
        session_progress(session, "stepping", steps, wanted->request.most_steps);
}

/* Lets the program run, once the stepper is attached to it. */
static struct argus_error *let_go(const struct step_wanted *wanted, struct child *child,
                                  const struct step_said *said)
{
    bool now = child && child->go_fd >= 0 && said->kind == STEP_ITEM_WAITING;
    return now ? child_go(child, wanted->argv[0]) : NULL;
}

static struct argus_error *receive_items(struct session *session, const struct step_wanted *wanted,
                                         struct step_client *client, struct child *child,
                                         struct step_collector *collector)
{
    struct argus_error *error = NULL;
    struct step_said said;
    bool warned = false;
    while (!error && !collector->over) {
        error = step_client_next(client, &said);
        if (!error)
            error = let_go(wanted, child, &said);
        if (!error)
            error = step_collector_take(collector, &said);
        if (!error && collector->weak && !warned) {
            session_warn(session,
                         "perf_event breakpoints may not be used here (perf_event_paranoid): if "
                         "argus-recorder is killed by SIGKILL now, the process ends as well");
            warned = true;
        }
        if (session_interrupted(session))
            step_client_stop(client);
        if (said.kind != STEP_ITEM_STEP)
            show_progress(session, wanted, collector);
    }
    session_end_progress(session);
    return error;
}

static struct argus_error *attempt(struct session *session, const struct step_wanted *wanted,
                                   bool with_sudo, struct child *child,
                                   struct step_collector *collector)
{
    struct step_client *client;
    collector->over = false;
    struct argus_error *error = step_client_start(&wanted->request, with_sudo, &client);
    if (error)
        return error;
    error = receive_items(session, wanted, client, child, collector);
    step_client_close(client);
    return error;
}

/* `refused`: the error for lack of rights. It remains the reason if sudo does not start the stepper
 * either. */
static struct argus_error *attempt_as_root(struct session *session,
                                           const struct step_wanted *wanted, struct child *child,
                                           struct step_collector *collector,
                                           struct argus_error *refused)
{
    struct argus_error *error = attempt(session, wanted, true, child, collector);
    if (error && error->code == ARGUS_ERROR_IO && !collector->over) {
        argus_error_destroy(error);
        return argus_error_context(refused,
                                   "this needs root, and sudo did not start argus-recorder");
    }
    argus_error_destroy(refused);
    return error;
}

static void fill_outcome(const struct step_collector *collector, struct step_outcome *ret)
{
    *ret = (struct step_outcome){.about = collector->about,
                                 .steps = argus_steps_writer_count(collector->writer),
                                 .calls = collector->counts[STEP_ITEM_CALL],
                                 .skips = collector->counts[STEP_ITEM_SKIP],
                                 .signals = collector->counts[STEP_ITEM_SIGNAL],
                                 .elapsed_ns = collector->elapsed_ns,
                                 .end = collector->end};
    memcpy(ret->comm, collector->comm, sizeof(ret->comm));
    memcpy(ret->end_text, collector->end_text, sizeof(ret->end_text));
}

struct argus_error *step_session_run(struct session *session, const struct step_wanted *wanted,
                                     const struct argus_output *to, struct child *child,
                                     struct step_outcome *ret)
{
    struct step_collector collector;
    struct argus_error *error = step_collector_init(&collector, to, wanted->registers);
    if (error)
        return error;
    collector_describe(&collector, wanted);
    error = attempt(session, wanted, false, child, &collector);
    if (error && error->code == ARGUS_ERROR_PERMISSION && geteuid() != 0 && !collector.begun)
        error = attempt_as_root(session, wanted, child, &collector, error);
    if (!error)
        error = step_collector_finish(&collector);
    if (!error)
        fill_outcome(&collector, ret);
    step_collector_deinit(&collector);
    return error;
}

/* --- the process that writes the file --- */

static bool wait_a_moment(void *context, int ms)
{
    poll(NULL, 0, ms);
    return !session_interrupted(context);
}

/* The descriptor goes to that process: even to close it here could wait. */
static struct argus_error *outlet_begin(struct session *session, struct output *output,
                                        struct outlet **ret)
{
    const struct outlet_source source = {.socket = -1, .fd = output->fd, .what = "the step file"};
    const struct outlet_waiter waiter = {wait_a_moment, session};
    output->fd = -1;
    return outlet_create(&source, geteuid(), &waiter, ret);
}

/* `error`: what failed so far. If the file could not be written, the reason is why. */
static struct argus_error *outlet_end(struct outlet *outlet, struct output *output,
                                      struct argus_error *error)
{
    char path[PATH_MAX];
    bool is_gone;
    struct argus_error *unwritten = outlet_finish(outlet);
    if (unwritten && outlet_waiting_ns(outlet)) {
        unwritten = argus_error_context(unwritten, "what was written is in %s", output->temporary);
        output_abandon(output);
    } else if (!unwritten && !error) {
        outlet_path(outlet, path, sizeof(path), &is_gone);
        error = output_reopen(output, path);
    }
    outlet_destroy(outlet);
    if (!unwritten)
        return error;
    argus_error_destroy(error);
    return unwritten;
}

struct argus_error *step_session_run_apart(struct session *session,
                                           const struct step_wanted *wanted, struct output *output,
                                           struct child *child, struct step_outcome *ret)
{
    struct outlet *outlet;
    struct argus_error *error = outlet_begin(session, output, &outlet);
    if (error)
        return error;
    const struct argus_output to = outlet_output(outlet);
    error = step_session_run(session, wanted, &to, child, ret);
    return outlet_end(outlet, output, error);
}

/* --- inside LLDB --- */

struct engine_run {
    struct session *session;
    const struct step_wanted *wanted;
    struct step_collector *collector;
    struct argus_error *error;
    struct step_listener listener;
    uint8_t item[STEP_ITEM_BYTES];
};

static bool take_engine_item(void *context, uint32_t kind, const void *head, uint32_t head_bytes,
                             const void *tail, uint32_t tail_bytes)
{
    struct engine_run *run = context;
    struct step_said said = {.kind = kind, .bytes = head_bytes + tail_bytes, .data = run->item};
    if (run->error || said.bytes > sizeof(run->item))
        return false;
    memcpy(run->item, head, head_bytes);
    if (tail_bytes)
        memcpy(run->item + head_bytes, tail, tail_bytes);
    run->error = step_collector_take(run->collector, &said);
    if (kind == STEP_ITEM_STEP)
        show_progress(run->session, run->wanted, run->collector);
    return !run->error && !session_interrupted(run->session);
}

static struct argus_error *debug(struct session *session, const struct step_wanted *wanted,
                                 struct step_collector *collector)
{
    struct engine_run *run = calloc(1, sizeof(*run));
    if (!run)
        return argus_error_memory();
    run->session = session;
    run->wanted = wanted;
    run->collector = collector;
    run->listener = (struct step_listener){.context = run, .on_item = take_engine_item};
    struct argus_error *error =
        session->host.step(session->host.data, &wanted->request, wanted->function, &run->listener);
    session_end_progress(session);
    if (error)
        argus_error_destroy(run->error);
    else
        error = run->error;
    free(run);
    return error;
}

struct argus_error *step_session_debug(struct session *session, const struct step_wanted *wanted,
                                       int fd, struct step_outcome *ret)
{
    struct step_collector collector;
    const struct argus_output to = file_output(fd);
    struct argus_error *error = step_collector_init(&collector, &to, wanted->registers);
    if (error)
        return error;
    collector_describe(&collector, wanted);
    collector.about.engine = ARGUS_STEP_ENGINE_LLDB;
    error = debug(session, wanted, &collector);
    if (!error)
        error = step_collector_finish(&collector);
    if (!error)
        fill_outcome(&collector, ret);
    step_collector_deinit(&collector);
    return error;
}

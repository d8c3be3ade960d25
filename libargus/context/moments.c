/* Determines the stack of each thread at each moment. User stacks are recorded at waits, wake-ups
 * and samples, and with --call-stacks also at system calls and preemptions. A thread's user stack
 * cannot change between the beginning of a system call and its return, nor while the thread is
 * off-CPU. So the return, and the moment at which the thread continues, are moments with a known
 * stack too.
 *
 * When a system call has returned, its kernel part has ended, and so has the C library's function
 * that made it, its wrapper; a later call is a new instance of both. Their callers continue. After
 * a page fault, all user functions continue.
 *
 * Where records are missing (MERGE_ID_LOST), it is unknown what the thread on that CPU did: its
 * instances end at its last moment, in both modes, and begin anew. The same applies to a thread
 * that is found running although the record that should have started it is missing. A thread that
 * waits across the gap and continues afterwards counts as waiting, as in the graph.
 *
 * The kernel's part, called by the innermost user function, is the system call by name (known from
 * its record), or "page fault" or "stopped" if a thread waits outside a system call. With
 * options->kernel, the functions of the recorded kernel stack follow.
 */
#include "context/moments.h"

#include "context/charges.h"
#include "event/merge.h"

#define STATES_STOPPED (ARGUS_LINUX_STATE_STOPPED | ARGUS_LINUX_STATE_TRACED)

static bool is_left_out(const struct moments *moments, const struct moment_thread *thread,
                        uint32_t node, enum argus_moment kind)
{
    const struct argus_thread *threads;
    argus_graph_threads(moments->graph, &threads);
    struct argus_context_moment moment = {.time_ns = moments->now_ns,
                                          .tid = threads[thread - moments->threads].tid,
                                          .node = node,
                                          .call = thread->call,
                                          .kind = (uint8_t)kind};
    return moments->options.observe &&
           !moments->options.observe(moments->options.observe_context, &moment);
}

/* The times without a CPU since the last moment get the nodes to which the inference gives them,
 * now that the next stack is known to end at `node`. */
static void note_offs(struct moments *moments, struct moment_thread *thread, uint32_t node)
{
    struct tree *tree = &moments->paths->tree;
    uint32_t before = thread->inference.node;
    for (size_t i = 0; before != ARGUS_NONE && i < thread->offs.length; i++) {
        struct waits_stretch *off = &thread->offs.data[i];
        if (off->from_ns < thread->inference.last_ns)
            off->from_ns = thread->inference.last_ns;
        if (off->from_ns >= off->to_ns)
            continue;
        struct waits_place place = {.thread = (uint32_t)(thread - moments->threads),
                                    .from_ns = off->from_ns,
                                    .node[ARGUS_CONSERVATIVE] = tree_common(tree, before, node),
                                    .node[ARGUS_AGGRESSIVE] = before};
        waits_note(&moments->waits, tree, place, off, &thread->waits);
    }
    thread->offs.length = 0;
}

/* False: the moment is left out. */
static bool add_moment(struct moments *moments, struct moment_thread *thread, uint32_t node,
                       enum argus_moment kind)
{
    bool returns = kind == ARGUS_MOMENT_RETURN;
    if (node == ARGUS_NONE || thread->has_exited || moments->now_ns < moments->from_ns ||
        moments->now_ns > moments->to_ns || (returns && moments->options.no_returns) ||
        is_left_out(moments, thread, node, kind))
        return false;
    moments->counts.moments[kind]++;
    moments->counts.threads += !thread->has_moments;
    thread->has_moments = true;
    life_known(&thread->life, moments->now_ns);
    note_offs(moments, thread, node);
    if (kind == ARGUS_MOMENT_SAMPLE && !thread->stretch.runs && thread->call == NOT_IN_A_CALL)
        sampled_begin(&thread->stretch, node, moments->now_ns);
    sampled_moment(&moments->sampled, &moments->paths->tree, &thread->stretch,
                   (struct sampled_point){.node = node}, moments->now_ns,
                   kind == ARGUS_MOMENT_SAMPLE);
    bool known = node == thread->inference.node;
    if (!known && tree_path(&moments->paths->tree, node) == ARGUS_NONE)
        moments->waits.no_memory = true;
    inference_moment(&thread->inference, &moments->paths->tree, node, moments->now_ns);
    return true;
}

/* Whether a function belongs to the C library. */
static bool is_wrapper(struct moments *moments, uint32_t function)
{
    while (moments->wrappers.length <= function)
        if (!vec_push(&moments->wrappers, 0)) {
            moments->waits.no_memory = true;
            return false;
        }
    uint8_t *known = &moments->wrappers.data[function];
    if (!*known)
        *known = charges_is_servant(&moments->paths->frames.functions.data[function]) ? 2 : 1;
    return *known == 2;
}

/* The node where the stack ends after the call at `call_node` has returned. */
static uint32_t caller_of(struct moments *moments, uint32_t call_node)
{
    const struct argus_context_node *nodes = moments->paths->tree.nodes.data;
    uint32_t user = nodes[call_node].parent;
    bool is_call = nodes[user].depth >= INFERENCE_FIRST_DEPTH;
    return is_call && is_wrapper(moments, nodes[user].function) ? nodes[user].parent : user;
}

/* The thread has returned from the kernel and runs its user functions, whose path is `user`. */
static void back_to_user(struct moments *moments, struct moment_thread *thread, uint32_t user,
                         bool counts)
{
    struct tree *tree = &moments->paths->tree;
    if (counts)
        inference_moment(&thread->inference, tree, user, moments->now_ns);
    /* where no stack was counted, the inference still has the one before */
    sampled_begin(&thread->stretch, thread->inference.node, moments->now_ns);
}

static void count_lack(struct moments *moments, uint32_t user)
{
    if (user == ARGUS_NONE) {
        moments->counts.missing++;
        return;
    }
    const struct user_path *path = &moments->paths->users.data[user];
    moments->counts.cut += path->lack > PATH_CUT;
    if (path->lack > PATH_CUT)
        moments->counts.cut_by[path->lack - PATH_CUT]++;
    moments->counts.rootless += path->lack == PATH_ROOTLESS;
    moments->counts.grafted += path->is_grafted;
}

/* The user path of a record's stack, or ARGUS_NONE. Incomplete stacks are counted. */
static uint32_t user_path(struct moments *moments, uint32_t thread, uint64_t id)
{
    const struct argus_thread *threads;
    argus_graph_threads(moments->graph, &threads);
    if (!id)
        return ARGUS_NONE;
    struct frame_space space = {.process = threads[thread].process, .time_ns = moments->now_ns};
    uint32_t user = paths_of_user(moments->paths, space, id);
    if (user != ARGUS_NONE)
        user = cut_stacks_apply(&moments->cuts, thread, user);
    if (moments->now_ns >= moments->from_ns && moments->now_ns <= moments->to_ns)
        count_lack(moments, user);
    return user;
}

/* The path of a recorded stack: user functions, system call, kernel functions. */
static uint32_t whole_path(struct moments *moments, struct moment_thread *thread, uint32_t user,
                           uint64_t kernel_id, bool blocked)
{
    if (user == ARGUS_NONE)
        return ARGUS_NONE;
    uint32_t node = moments->paths->users.data[user].node;
    if (thread->call != NOT_IN_A_CALL)
        node = thread->call_node = paths_of_syscall(moments->paths, user, thread->call);
    else if (blocked && thread->state & STATES_STOPPED)
        node = paths_of_pause(moments->paths, node, "stopped");
    else if (blocked && thread->seen_call)
        node = paths_of_pause(moments->paths, node, "page fault");
    if (moments->options.kernel && kernel_id)
        node = paths_of_kernel(moments->paths, node, kernel_id);
    return node;
}

/* The thread had no known stack. */
static void note_wanted_cpu(struct moment_thread *thread, const struct waits_stretch *off)
{
    uint64_t from_ns = off->preempted ? off->from_ns : off->woken_ns;
    life_wanted_cpu(&thread->life, (struct life_span){from_ns, off->to_ns});
}

/* All instances of the thread end at its last moment. */
static void end_all(struct moments *moments, struct moment_thread *thread, enum argus_unseen why)
{
    life_unknown(&thread->life, thread->inference.last_ns, why);
    for (size_t i = 0; i < thread->offs.length; i++)
        note_wanted_cpu(thread, &thread->offs.data[i]);
    inference_end(&thread->inference, &moments->paths->tree);
    sampled_end(&moments->sampled, &moments->paths->tree, &thread->stretch);
    thread->offs.length = 0;
}

/* Records of the thread are missing. */
static void lose(struct moments *moments, struct moment_thread *thread)
{
    end_all(moments, thread, ARGUS_UNSEEN_LOST);
    thread->out_ns = 0;
    thread->call = NOT_IN_A_CALL;
    thread->call_node = thread->held = thread->cpu = ARGUS_NONE;
    thread->seen_call = false;
}

static void on_lost(struct moments *moments, const struct argus_record *record)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(moments->graph, &threads);
    moments->lost_ns = moments->now_ns;
    for (size_t i = 0; i < count; i++)
        if (moments->threads[i].cpu == record->cpu)
            lose(moments, &moments->threads[i]);
}

/* The thread runs on `cpu`. */
static void note_running(struct moments *moments, struct moment_thread *thread, uint32_t cpu)
{
    bool moved = thread->cpu != ARGUS_NONE && thread->cpu != cpu;
    bool came_unseen =
        thread->held != ARGUS_NONE && moments->lost_ns && thread->held_ns <= moments->lost_ns;
    if (moved || came_unseen)
        lose(moments, thread);
    thread->cpu = cpu;
}

static void on_stack(struct moments *moments, uint32_t index, const struct argus_record *record)
{
    struct moment_thread *thread = &moments->threads[index];
    uint64_t why = record->arg[2];
    if (why == ARGUS_STACK_WAITED && record->arg[3]) /* Linux: its waits have this stack already */
        return;
    /* belongs to the previous wait, and comes too late to be used for it */
    if (why == ARGUS_STACK_WAITED)
        why = ARGUS_MOMENT_BLOCK;
    if (why < ARGUS_MOMENT_BLOCK || why > ARGUS_MOMENT_PREEMPTED)
        return;
    bool blocked = record->arg[2] == ARGUS_STACK_BLOCK;
    if (why == ARGUS_MOMENT_CALL || why == ARGUS_MOMENT_WAKE)
        note_running(moments, thread, record->cpu);
    uint32_t user = user_path(moments, index, record->arg[0]);
    uint32_t node = whole_path(moments, thread, user, record->arg[1], blocked);
    add_moment(moments, thread, node, (enum argus_moment)why);
    if (why == ARGUS_MOMENT_WAKE && node != ARGUS_NONE && thread->wakee != ARGUS_NONE)
        moments->threads[thread->wakee].waker = node;
    if (blocked || why == ARGUS_MOMENT_PREEMPTED) {
        thread->held = node;
        thread->held_user = node == ARGUS_NONE ? ARGUS_NONE : moments->paths->users.data[user].node;
        thread->held_ns = moments->now_ns;
        if (thread->out_ns) /* the stack is taken after the record of the switch */
            thread->out_ns = moments->now_ns;
        thread->blocked = blocked;
    }
}

static void on_sample(struct moments *moments, uint32_t index, const struct argus_record *record)
{
    struct moment_thread *thread = &moments->threads[index];
    note_running(moments, thread, record->cpu);
    if (moments->options.no_samples)
        return;
    uint32_t user = user_path(moments, index, record->arg[0]);
    add_moment(moments, thread, whole_path(moments, thread, user, record->arg[1], false),
               ARGUS_MOMENT_SAMPLE);
}

static void on_make_runnable(struct moments *moments, const struct argus_record *record)
{
    uint32_t index = moments_thread(moments, record->arg[0]);
    uint32_t waker = moments_thread(moments, record->tid);
    if (waker != ARGUS_NONE)
        moments->threads[waker].wakee = index;
    if (index == ARGUS_NONE)
        return;
    struct moment_thread *thread = &moments->threads[index];
    if (!thread->out_ns || thread->woken_ns)
        return;
    thread->woken_ns = moments->now_ns;
    /* its last stack, if that is of this system call; else the stack of the wake-up follows, or
     * none
     */
    thread->waker = waker == ARGUS_NONE ? ARGUS_NONE : moments->threads[waker].call_node;
}

/* The thread is on a CPU again. Where that time belongs is known at its next moment. */
static void note_off_cpu(struct moments *moments, struct moment_thread *thread)
{
    struct waits_stretch off = {
        .from_ns = thread->out_ns,
        .woken_ns = thread->woken_ns ? thread->woken_ns : moments->now_ns,
        .to_ns = moments->now_ns,
        .waker = thread->waker,
        .preempted = thread->state == ARGUS_LINUX_STATE_RUNNING ||
                     (thread->woken_ns && thread->woken_ns <= thread->out_ns),
    };
    bool is_inside = thread->out_ns && thread->out_ns >= moments->from_ns &&
                     moments->now_ns <= moments->to_ns && !thread->has_exited;
    if (is_inside && thread->inference.node == ARGUS_NONE)
        note_wanted_cpu(thread, &off);
    else if (is_inside && !vec_push(&thread->offs, off))
        moments->waits.no_memory = true;
    thread->out_ns = 0;
}

/* A thread continues that left the CPU with a known stack. */
static void go_on(struct moments *moments, uint32_t index)
{
    struct moment_thread *thread = &moments->threads[index];
    uint32_t node = thread->held;
    if (node == ARGUS_NONE)
        return;
    thread->held = ARGUS_NONE;
    bool counts = add_moment(moments, thread, node, ARGUS_MOMENT_RETURN);
    if (thread->call == NOT_IN_A_CALL)
        back_to_user(moments, thread, thread->held_user, counts);
}

static void on_switch_in(struct moments *moments, uint32_t index, const struct argus_record *record)
{
    struct moment_thread *thread = &moments->threads[index];
    /* it was running: the record of how it left that CPU is missing */
    if (thread->cpu != ARGUS_NONE)
        lose(moments, thread);
    thread->cpu = record->cpu;
    sampled_in(&thread->stretch, moments->now_ns);
    note_off_cpu(moments, thread);
    go_on(moments, index);
}

static void on_syscall(struct moments *moments, uint32_t index, const struct argus_record *record)
{
    struct moment_thread *thread = &moments->threads[index];
    bool begins = ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START;
    uint32_t number = ARGUS_DEBUGID_CODE(record->debugid);
    note_running(moments, thread, record->cpu);
    sampled_in(&thread->stretch, moments->now_ns); /* if the record of how it got a CPU again … */
    note_off_cpu(moments, thread);                 /* … is missing */
    bool counts = !begins && thread->call == number &&
                  add_moment(moments, thread, thread->call_node, ARGUS_MOMENT_RETURN);
    if (!begins && thread->call_node != ARGUS_NONE)
        back_to_user(moments, thread, caller_of(moments, thread->call_node), counts);
    thread->call = begins ? number : NOT_IN_A_CALL;
    thread->call_node = ARGUS_NONE;
    thread->held = ARGUS_NONE;
    thread->seen_call = true;
}

static void on_switch_out(struct moments *moments, const struct argus_record *record)
{
    uint32_t index = moments_thread(moments, record->tid);
    if (index == ARGUS_NONE)
        return;
    struct moment_thread *thread = &moments->threads[index];
    note_running(moments, thread, record->cpu);
    thread->state = (uint32_t)record->arg[0];
    thread->cpu = thread->waker = ARGUS_NONE;
    thread->out_ns = moments->now_ns;
    thread->woken_ns = 0;
    sampled_out(&thread->stretch, moments->now_ns);
}

/* An exec: another program's stack follows. The system call lasted until now. */
static void on_exec(struct moments *moments, uint32_t index)
{
    struct moment_thread *thread = &moments->threads[index];
    add_moment(moments, thread, thread->call_node, ARGUS_MOMENT_RETURN);
    end_all(moments, thread, ARGUS_UNSEEN_BEFORE);
    thread->call_node = thread->held = ARGUS_NONE;
}

static void on_thread_exit(struct moments *moments, uint32_t index)
{
    end_all(moments, &moments->threads[index], ARGUS_UNSEEN_AFTER);
    moments->threads[index].cpu = ARGUS_NONE;
    moments->threads[index].has_exited = true;
}

static void on_record(struct moments *moments, const struct argus_record *record)
{
    uint32_t id = ARGUS_DEBUGID_EVENT(record->debugid);
    bool is_call = id >= ARGUS_ID_SYSCALL(0) && id <= ARGUS_ID_SYSCALL(0x3fff);
    bool is_switch = id == ARGUS_ID_SWITCH;
    if (record->debugid == MERGE_ID_LOST)
        on_lost(moments, record);
    if (id == ARGUS_ID_MAKE_RUNNABLE)
        on_make_runnable(moments, record);
    if (!is_call && !is_switch && id != ARGUS_ID_STACK && id != ARGUS_ID_SAMPLE &&
        id != ARGUS_ID_EXEC && id != ARGUS_ID_THREAD_EXIT)
        return;
    if (is_switch)
        on_switch_out(moments, record);
    uint32_t thread = moments_thread(moments, is_switch ? record->arg[1] : record->tid);
    if (thread == ARGUS_NONE)
        return;
    if (is_call)
        on_syscall(moments, thread, record);
    else if (is_switch)
        on_switch_in(moments, thread, record);
    else if (id == ARGUS_ID_STACK)
        on_stack(moments, thread, record);
    else if (id == ARGUS_ID_SAMPLE)
        on_sample(moments, thread, record);
    else if (id == ARGUS_ID_EXEC)
        on_exec(moments, thread);
    else
        on_thread_exit(moments, thread);
}

/* What has not ended at the end: the wait of a chosen vertex counts up to there; other waits have
 * no length yet. */
static void finish_thread(struct moments *moments, uint32_t index)
{
    struct moment_thread *thread = &moments->threads[index];
    uint64_t end_ns = moments->now_ns;
    bool waits = thread->held != ARGUS_NONE && thread->held_ns <= end_ns;
    if (waits && moments->options.vertex != ARGUS_NONE) {
        note_off_cpu(moments, thread);
        go_on(moments, index);
    } else if (waits && thread->blocked) {
        moments->counts.open_ns += end_ns - thread->held_ns;
    }
    bool is_open = thread->out_ns && thread->state != ARGUS_LINUX_STATE_RUNNING;
    end_all(moments, thread, is_open ? ARGUS_UNSEEN_OPEN : ARGUS_UNSEEN_AFTER);
}

static void finish_life(struct moments *moments, uint32_t index)
{
    const struct argus_thread *threads;
    argus_graph_threads(moments->graph, &threads);
    struct life_span span = moments_life(moments, index);
    struct life *life = &moments->threads[index].life;
    life_end(life, span.to_ns);
    for (int i = 0; i < 2; i++) {
        uint32_t node = paths_program(moments->paths, threads[index].process, i);
        moments->waits.no_memory |= !life_add(&moments->programs, life, span, i, node);
    }
}

static void finish(struct moments *moments)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(moments->graph, &threads);
    moments->now_ns =
        moments->to_ns == UINT64_MAX ? argus_graph_end_ns(moments->graph) : moments->to_ns;
    for (uint32_t i = 0; i < count; i++) {
        finish_thread(moments, i);
        finish_life(moments, i);
    }
    sampled_finish(&moments->sampled, &moments->paths->tree);
}

struct argus_error *moments_read(struct moments *moments, argus_progress progress, void *context)
{
    const struct argus_trace *trace = argus_graph_trace(moments->graph);
    uint64_t total = argus_trace_record_count(trace);
    struct merge *merge;
    const struct argus_record *record;
    struct argus_error *error = merge_create(trace, &merge);
    if (error)
        return error;
    while (!(error = merge_next(merge, &record)) && record) {
        if (record->timestamp > moments->to_ns)
            break;
        moments->now_ns = record->timestamp;
        on_record(moments, record);
        uint64_t done = merge_position(merge);
        if (done % 65536 == 0 && progress &&
            !progress(context, "reading call stacks", (double)done / (double)total)) {
            error = argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
            break;
        }
    }
    merge_destroy(merge);
    if (!error)
        finish(moments);
    if (!error &&
        (moments->waits.no_memory || moments->waits.sleeps[ARGUS_CONSERVATIVE].no_memory ||
         moments->waits.sleeps[ARGUS_AGGRESSIVE].no_memory || moments->sampled.no_memory ||
         moments->cuts.no_memory || paths_no_memory(moments->paths)))
        error = argus_error_memory();
    return error;
}

/* Callbacks and UI events, as the probes in libraries report them (docs/man/argus-trace.5.md,
 * section CALLBACKS).
 *
 * An event loop runs callbacks for many requesters in one thread, one after the other. Without a
 * boundary between them, all would seem to be caused by the wake-up of the loop. So a callback
 * begins a vertex. It is caused by the segment that queued it (rules/callback.c). A callback
 * without a key or a UI event was found ready by the loop itself, so the loop's segment that read
 * it is its cause. When the callback ends, the loop's next segment begins.
 *
 * Few ends have a record of their own. Instead, the stack pointer is used: a callback has returned
 * if it began at or below the stack pointer of a later record, or of a turn of the loop (reported
 * by a probe, or inferred by the recorder from where the thread polls). A callback inside of
 * another one belongs to the outer one, with two exceptions:
 *
 * - The outer one runs an event loop of its own (a modal dialog). A turn of that loop shows this.
 * - A UI event arrives below the stack pointer of a callback that runs no loop. Event loops do not
 *   deliver events while something else runs, so the callback has ended, and the event merely took
 *   a deeper call path.
 */
#include "graph/build/on_callback.h"

#include "graph/build/cut_points.h"
#include "graph/build/handlers.h"
#include "graph/build/path_lookup.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/rules/callback.h"
#include "graph/rules/voucher.h"
#include "graph/schema/rule_binding.h"

static void pop(struct open_callbacks *open)
{
    open->depth--;
}

/* Removes the callbacks that have returned; true if there were any. */
static bool pop_returned(struct open_callbacks *open, uint64_t sp)
{
    bool popped = false;
    while (open->depth && open->entries[open->depth - 1].sp <= sp) {
        pop(open);
        popped = true;
    }
    return popped;
}

static void push(struct open_callbacks *open, uint64_t sp, bool is_ui, uint32_t unit)
{
    if (open->depth == MOST_OPEN_CALLBACKS) /* drop the outermost one */
        for (uint32_t i = 1; i < open->depth--; i++)
            open->entries[i - 1] = open->entries[i];
    open->entries[open->depth++] = (struct open_callback){.sp = sp, .unit = unit, .is_ui = is_ui};
}

/* Whether the thread is inside of a callback, and not in an event loop that this callback runs. */
static bool is_open(const struct open_callbacks *open)
{
    const struct open_callback *top = open->depth ? &open->entries[open->depth - 1] : NULL;
    return top && !top->has_loop && !top->doubtful;
}

/* Index + 1 of the innermost unit of a user's rule; 0: none. */
static uint8_t innermost_unit(const struct open_callbacks *open)
{
    uint8_t depth = open->depth;
    while (depth && open->entries[depth - 1].unit == ARGUS_NONE)
        depth--;
    return depth;
}

/* The thread polled. If its loop's turns are not reported, the loop itself is assumed to have
 * polled, so all callbacks have ended. A user's unit may poll or sleep itself; the stack of the
 * wait tells. */
static void forget_polled(struct open_callbacks *open)
{
    open->depth = innermost_unit(open);
    if (open->depth)
        open->entries[open->depth - 1].doubtful |=
            open->entries[open->depth - 1].sp != UNTIL_ITS_END;
}

/* Notes for rule_apply_stacks() that the wait that has just ended may be inside of a unit. */
static void note_unit_wait(struct builder *builder, const struct thread_state *state)
{
    const struct open_callbacks *open = &state->open;
    if (!open->depth)
        return;
    const struct open_callback *top = &open->entries[open->depth - 1];
    struct unit_wait noted = {
        .since_ns = slot_at(builder, state->slot)->end_ns, .slot = state->slot, .rule = top->unit};
    if (top->unit != ARGUS_NONE && top->sp != UNTIL_ITS_END &&
        !vec_push(&builder->binding->unit_waits, noted))
        builder->no_memory = true;
}

/* After its poll, an event loop begins a new turn. Other waits (for a lock, a reply) lie within the
 * same turn. */
uint32_t callback_continuation(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    uint8_t wait = slot_at(builder, state->slot)->wait.kind;
    bool polled = wait == ARGUS_WAIT_POLL || wait == ARGUS_WAIT_SLEEP;
    if (polled && !state->open.has_turns)
        forget_polled(&state->open);
    note_unit_wait(builder, state);
    bool in_turn = state->open.has_turns && !polled;
    return is_open(&state->open) || in_turn ? ARGUS_VERTEX_CONTINUES : 0;
}

/* The state of the thread on the cpu; NULL if its vertex cannot be cut. */
static struct thread_state *running(struct builder *builder, const struct cpu_state *cpu)
{
    if (cpu->thread == ARGUS_NONE)
        return NULL;
    struct thread_state *state = thread_at(builder, cpu->thread);
    return state->slot != ARGUS_NONE && state->activity == THREAD_RUNNING ? state : NULL;
}

/* Adds a record's note to the vertex of `thread`. */
static void add_note(struct builder *builder, uint32_t thread, const struct argus_callback *note)
{
    struct argus_graph *graph = builder->graph;
    struct argus_callback added = *note;
    added.time_ns = builder->now_ns;
    added.vertex = thread_at(builder, thread)->slot;
    if (graph->callbacks.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&graph->callbacks, added))
        builder->no_memory = true;
}

/* Remembers the loop's segment before a callback begins: the current segment, or, when one callback
 * directly follows another, the loop's last one. */
static void remember_loop(struct builder *builder, uint32_t thread, bool follows)
{
    struct thread_state *state = thread_at(builder, thread);
    bool known = state->open.loop.slot != ARGUS_NONE;
    if (!(follows && state->open.has_turns && known))
        state->open.loop =
            (struct actor){.since_ns = builder->now_ns, .thread = thread, .slot = state->slot};
}

/* Begins a vertex, unless the callback belongs to the one that is open. */
static bool begin(struct builder *builder, uint32_t thread, const struct argus_record *record,
                  bool is_ui)
{
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    uint32_t unit = rule_binding_find(builder->binding, record->arg[2], RULE_KINDS_OF_UNITS);
    bool is_unit = unit != ARGUS_NONE && !is_ui;
    bool follows = pop_returned(open, record->arg[3]);
    if (open->depth && is_ui && !open->entries[open->depth - 1].is_ui &&
        !open->entries[open->depth - 1].has_loop) {
        pop(open);
        follows = true;
    }
    if (is_open(open) && !is_unit)
        return false;
    remember_loop(builder, thread, follows);
    struct actor loop = open->loop;
    bool until_end = is_unit && rule_binding_has_end(builder->binding, unit);
    push(open, until_end ? UNTIL_ITS_END : record->arg[3], is_ui, is_unit ? unit : ARGUS_NONE);
    if (!vertex_cut(builder, thread, is_unit ? rule_of_user(unit) : RULE_BOUNDARY_CALLBACK))
        return false;
    struct cause cause;
    rule_dispatch(builder, thread, record, is_ui, &loop, &cause);
    cause.edge.to_ns = builder->now_ns;
    thread_at(builder, thread)->cause = cause;
    return true;
}

/* Whether the probe marks the end of a unit. Such an end need not have a key, but is no turn of a
 * loop. */
static bool is_end_probe(const struct builder *builder, uint64_t number)
{
    const struct argus_probe_entry *probe =
        number > UINT32_MAX ? NULL : argus_graph_probe(builder->graph, (uint32_t)number);
    return probe && probe->shape == ARGUS_PROBE_END;
}

/* Ends the innermost unit of a user's rule in its space, with everything inside of it. */
static void end_unit(struct builder *builder, uint32_t thread, uint32_t rule)
{
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    uint8_t depth = open->depth;
    while (depth && !rule_binding_ends(builder->binding, rule, open->entries[depth - 1].unit))
        depth--;
    if (!depth)
        return;
    open->depth = (uint8_t)(depth - 1);
    vertex_cut(builder, thread, rule_of_user(rule));
}

/* A turn of the loop, or the end of a function: the callbacks above it on the stack have ended. */
static void end(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    uint32_t rule =
        rule_binding_find(builder->binding, record->arg[2], RULE_KIND_BIT(ARGUS_RULE_END));
    if (rule != ARGUS_NONE) {
        end_unit(builder, thread, rule);
        return;
    }
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    bool is_turn = record->arg[0] == 0 && !is_end_probe(builder, record->arg[2]);
    bool cuts = pop_returned(open, record->arg[3]);
    open->has_turns |= is_turn;
    if (is_turn && open->depth && !open->entries[open->depth - 1].has_loop) {
        open->entries[open->depth - 1].has_loop = true;
        cuts = true;
    }
    if (cuts && vertex_cut(builder, thread, RULE_BOUNDARY_LOOP) && is_turn)
        slot_at(builder, thread_at(builder, thread)->slot)->flags |= ARGUS_VERTEX_LOOP;
}

/* A function of the program is called. `begins`: the call itself has begun a vertex. */
static void note_call(struct builder *builder, uint32_t thread, uint64_t function, bool begins)
{
    struct unit_call call = {
        .function = function, .time_ns = builder->now_ns, .point = ARGUS_NONE, .thread = thread};
    if (!builder->binding->has_units || !function)
        return;
    if (!begins)
        call.point = cut_point_add_call(builder, thread);
    if ((begins || call.point != ARGUS_NONE) && !vec_push(&builder->binding->unit_calls, call))
        builder->no_memory = true;
}

void graph_on_callback(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_START) {
        end(builder, cpu->thread, record);
        return;
    }
    struct argus_callback note = {
        .function = record->arg[1], .probe = (uint32_t)record->arg[2], .what = ARGUS_CALLBACK_RUN};
    note.nested = !begin(builder, cpu->thread, record, false);
    note_call(builder, cpu->thread, note.function, !note.nested);
    add_note(builder, cpu->thread, &note);
    vertex_op(builder, cpu->thread, ARGUS_OP_CALLBACK << 24 | (note.probe & 0xffff));
}

/* Whether the user asks for something by the event. Moving the mouse does not. */
static bool is_on_purpose(uint64_t kind)
{
    return kind == ARGUS_UI_KEY_PRESS || kind == ARGUS_UI_KEY_RELEASE ||
           kind == ARGUS_UI_BUTTON_PRESS || kind == ARGUS_UI_BUTTON_RELEASE ||
           kind == ARGUS_UI_SCROLL || kind == ARGUS_UI_TOUCH || kind == ARGUS_UI_CLOSE;
}

void graph_on_ui_event(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    bool read_only = record->arg[3] == 0;
    uint64_t kind = record->arg[0] < ARGUS_UI_EVENTS ? record->arg[0] : ARGUS_UI_OTHER;
    struct argus_callback note = {
        .probe = (uint32_t)record->arg[2],
        .what = read_only ? ARGUS_CALLBACK_UI_READ : ARGUS_CALLBACK_UI_EVENT,
        .ui_event = (uint8_t)kind,
        .on_purpose = is_on_purpose(kind),
    };
    if (read_only)
        rule_ui_read(builder, cpu->thread, kind);
    else
        note.nested = !begin(builder, cpu->thread, record, true);
    add_note(builder, cpu->thread, &note);
    if (!read_only && !note.nested)
        vertex_op(builder, cpu->thread, ARGUS_OP_UI_EVENT << 24 | (uint32_t)kind);
}

/* Programs mark rarely; probes in libraries do so at each call. */
static void note_mark(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    const struct argus_callback note = {.probe = (uint32_t)record->arg[2],
                                        .what = ARGUS_CALLBACK_MARK};
    if (record->arg[2] >= ARGUS_PROBE_FIRST_HOOK && record->arg[2] <= UINT32_MAX)
        add_note(builder, thread, &note);
}

/* A label is for people, for users' rules (argus schema), and for finding hangs; it causes
 * nothing. */
void graph_on_hook(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    if (record->arg[2] == ARGUS_PROBE_VOUCHER) {
        rule_voucher(builder, record);
    } else if (record->arg[2] == ARGUS_PROBE_PATH) {
        path_lookup_note(builder, cpu, record);
    } else if (running(builder, cpu)) {
        note_mark(builder, cpu->thread, record);
        vertex_op(builder, cpu->thread, ARGUS_OP_CALLBACK << 24 | (record->arg[2] & 0xffff));
        rule_note_hook(builder, cpu->thread, record);
    }
}

void graph_on_handler(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    struct argus_callback note = {
        .function = record->arg[0],
        .other = record->arg[1],
        .probe = (uint32_t)record->arg[2],
        .what = ARGUS_CALLBACK_HANDLER,
    };
    note_call(builder, cpu->thread, note.function, false);
    add_note(builder, cpu->thread, &note);
}

#include "fleet/fleet_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/recorded_host.h"
#include "base/hash64.h"
#include "fleet/culprit_place.h"
#include "fleet/fleet_names.h"
#include "fleet/fleet_path.h"
#include "fleet/program_image.h"
#include "report/json.h"

/* Room for a name, for the list of programs on a path, and for all parts. */
enum { NAME_BYTES = 256, PATH_BYTES = 512, PARTS_BYTES = 4096 };

struct facts {
    const struct argus_report_context *context;
    const struct argus_diagnosis *diagnosis;
    struct view view;
    const struct argus_thread *thread;
    const struct argus_process *process;
    const char *type;
    const char *wait;         /* kind of the wait in which it hung; NULL: it did not wait */
    bool is_own;              /* the root cause is the hung thread itself, or there is none */
    const char *culprit_type; /* NULL: no culprit; what it did, else */
    bool lacks_cpu;           /* of the root cause */
    char program[NAME_BYTES], thread_name[NAME_BYTES];
    char culprit_program[NAME_BYTES], culprit_thread[NAME_BYTES];
    struct culprit_place here, there; /* where it hung; where the root cause was */
    char path[PATH_BYTES], waits[PATH_BYTES];
    char parts[PARTS_BYTES], what[PARTS_BYTES];
};

static const char *role_of(const struct view *view, uint32_t thread, char *buffer)
{
    const struct argus_thread *t = &view->threads[thread];
    if (t->tid == view->processes[t->process].pid)
        return memcpy(buffer, "main", sizeof("main"));
    return fleet_thread_name(t->name, 1, buffer, NAME_BYTES);
}

/* Long numbers in names of processes are IDs; short ones tell programs apart. */
static const char *program_of(const struct view *view, uint32_t thread, char *buffer)
{
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    return fleet_thread_name(process->name, 4, buffer, NAME_BYTES);
}

static void find_culprit(struct facts *facts)
{
    const struct argus_diagnosis *diagnosis = facts->diagnosis;
    const struct argus_culprit *root = diagnosis->culprits;
    facts->is_own = true;
    if (!diagnosis->culprit_count)
        return;
    uint32_t thread = facts->view.vertices[root->vertex].thread;
    facts->is_own = thread == diagnosis->hang.thread;
    facts->culprit_type = argus_vertex_type_name((enum argus_vertex_type)root->type);
    facts->lacks_cpu = culprit_lacks_cpu(facts->context->graph, root);
    if (facts->lacks_cpu)
        facts->culprit_type = "NoCpu";
    program_of(&facts->view, thread, facts->culprit_program);
    role_of(&facts->view, thread, facts->culprit_thread);
    culprit_place_find(facts->context, root, &facts->there);
}

/* "is busy in load()", "waits in open()". */
static void add_deed(char *text, size_t bytes, uint8_t type, const struct culprit_place *place,
                     const char *wait)
{
    static const char *const verbs[] = {[ARGUS_TYPE_NORMAL] = "works",
                                        [ARGUS_TYPE_LONG_RUNNING] = "is busy",
                                        [ARGUS_TYPE_REPEATED_YIELD] = "polls",
                                        [ARGUS_TYPE_LONG_WAIT] = "waits"};
    size_t length = strlen(text);
    snprintf(text + length, bytes - length, "%s",
             type < sizeof(verbs) / sizeof(verbs[0]) ? verbs[type] : verbs[0]);
    length = strlen(text);
    if (place->function[0])
        snprintf(text + length, bytes - length, " in %s%s", place->function,
                 strpbrk(place->function, "( ") ? "" : "()");
    else if (place->image[0])
        snprintf(text + length, bytes - length, " in %s", place->image);
    else if (wait && type == ARGUS_TYPE_LONG_WAIT)
        snprintf(text + length, bytes - length, " (%s)", wait);
}

static void name_thread(char *text, size_t bytes, const char *program, const char *thread)
{
    size_t length = strlen(text);
    if (strcmp(thread, "main") == 0)
        snprintf(text + length, bytes - length, "main thread of %s ", program);
    else
        snprintf(text + length, bytes - length, "thread %s of %s ", thread, program);
}

/* "main thread of app waits for portald, which waits in open()". */
static void write_what(struct facts *facts)
{
    char *text = facts->what;
    size_t bytes = sizeof(facts->what);
    const struct argus_culprit *root = facts->diagnosis->culprits;
    name_thread(text, bytes, facts->program, facts->thread_name);
    if (facts->is_own) {
        bool known = facts->culprit_type != NULL;
        if (facts->lacks_cpu)
            snprintf(text + strlen(text), bytes - strlen(text), "gets no CPU");
        else
            add_deed(text, bytes, known ? root->type : facts->diagnosis->hang.type,
                     known ? &facts->there : &facts->here, facts->wait);
        return;
    }
    bool is_other = strcmp(facts->culprit_program, facts->program) != 0;
    bool is_main = strcmp(facts->culprit_thread, "main") == 0;
    const char *name = is_other || is_main ? facts->culprit_program : facts->culprit_thread;
    size_t length = strlen(text);
    snprintf(text + length, bytes - length, "%s %s%s, which ",
             facts->diagnosis->hang.type == ARGUS_TYPE_LONG_RUNNING ? "is held up by" : "waits for",
             is_other || is_main ? "" : "its thread ", name);
    if (facts->lacks_cpu)
        snprintf(text + strlen(text), bytes - strlen(text), "gets no CPU");
    else
        add_deed(text, bytes, root->type, &facts->there, NULL);
}

/* The names of the parts are no part of what is compared, but tell a reader what each is. */
static void write_parts(struct facts *facts)
{
    const struct culprit_place *place = facts->culprit_type ? &facts->there : &facts->here;
    snprintf(facts->parts, sizeof(facts->parts),
             "type=%s; program=%s; thread=%s; culprit=%s; culprit-thread=%s; did=%s; in=%s; "
             "path=%s; waits=%s",
             facts->type, facts->program, facts->thread_name, facts->culprit_program,
             facts->is_own ? "" : facts->culprit_thread,
             facts->culprit_type ? facts->culprit_type : "",
             place->function[0] ? place->function : place->image, facts->path, facts->waits);
}

static void find_facts(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis, struct facts *ret)
{
    const struct argus_hang *hang = &diagnosis->hang;
    *ret = (struct facts){.context = context, .diagnosis = diagnosis};
    ret->view = view_of(context->graph);
    ret->thread = &ret->view.threads[hang->thread];
    ret->process = &ret->view.processes[ret->thread->process];
    ret->type = argus_vertex_type_name((enum argus_vertex_type)hang->type);
    const struct argus_wait *wait = &ret->view.vertices[hang->vertex].wait;
    if (hang->type != ARGUS_TYPE_LONG_RUNNING && wait->kind != ARGUS_WAIT_NONE)
        ret->wait = argus_wait_kind_name((enum argus_wait_kind)wait->kind);
    program_of(&ret->view, hang->thread, ret->program);
    role_of(&ret->view, hang->thread, ret->thread_name);
    culprit_place_of_wait(context, hang->vertex, wait->user_stack, &ret->here);
    find_culprit(ret);
    fleet_path_programs(&ret->view, diagnosis, ret->path, sizeof(ret->path));
    fleet_path_waits(&ret->view, diagnosis, ret->waits, sizeof(ret->waits));
    write_parts(ret);
    write_what(ret);
}

/* --- the row --- */

static json_t *text_or_null(const char *text)
{
    return json_text(text && text[0] ? text : NULL);
}

static json_t *hex64(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%016" PRIx64, number);
    return json_text(text);
}

/* The same hang in two overlapping snapshots has one key. Without a boot ID, times are of no common
 * clock: then the file's content identifies it. */
static uint64_t key_of(const struct facts *facts, const struct fleet_source *source)
{
    static const uint8_t none[16];
    const struct argus_trace *trace = argus_graph_trace(facts->context->graph);
    const struct argus_trace_header *header = argus_trace_header(trace);
    bool has_boot = memcmp(header->boot_id, none, sizeof(none)) != 0;
    const uint64_t words[] = {facts->process->pid, facts->thread->tid,
                              facts->diagnosis->hang.start_ns, has_boot ? 0 : source->content};
    uint64_t hash = hash64(0, header->boot_id, sizeof(header->boot_id));
    hash = hash64(hash, words, sizeof(words));
    return hash64(hash, facts->process->name, strlen(facts->process->name));
}

static void put_identity(json_t *row, const struct facts *facts, const struct fleet_source *source)
{
    const struct argus_trace *trace = argus_graph_trace(facts->context->graph);
    const struct argus_hang *hang = &facts->diagnosis->hang;
    char machine[ARGUS_MACHINE_BYTES];
    json_put(row, "key", hex64(key_of(facts, source)));
    json_put(row, "signature", hex64(hash64(0, facts->parts, strlen(facts->parts))));
    json_put(row, "what", json_text(facts->what));
    json_put(row, "parts", json_text(facts->parts));
    json_put(row, "machine", json_text(argus_recorded_machine(trace, machine, sizeof(machine))));
    json_put(row, "time", json_time(trace, hang->start_ns));
    json_put(row, "wall_ns", json_ns(argus_trace_ns_to_wall_ns(trace, hang->start_ns)));
    json_put(row, "duration_ns", json_ns(fleet_duration_ns(hang->end_ns - hang->start_ns)));
    json_put(row, "ongoing", json_boolean(hang->ongoing));
    json_put(row, "type", json_text(facts->type));
    json_put(row, "nature", json_text(argus_nature_name((enum argus_hang_nature)hang->nature)));
    json_put(row, "pid", json_ns(facts->process->pid));
    json_put(row, "tid", json_ns(facts->thread->tid));
}

static void put_program(json_t *row, const struct facts *facts)
{
    struct program_image image;
    program_image_find(facts->context->graph, facts->thread->process, NULL, &image);
    json_put(row, "program", json_text(facts->process->name));
    json_put(row, "thread", json_text(facts->thread_name));
    json_put(row, "version", text_or_null(image.version));
    json_put(row, "package", text_or_null(image.package));
    json_put(row, "build_id", text_or_null(image.build_id));
    json_put(row, "program_path", text_or_null(image.path));
    json_put(row, "wait", json_text(facts->wait));
    json_put(row, "call", text_or_null(facts->here.function));
}

static void put_culprit(json_t *row, const struct facts *facts)
{
    struct program_image image = {.path = ""};
    const struct argus_culprit *root = facts->diagnosis->culprits;
    if (!facts->culprit_type)
        return;
    uint32_t thread = facts->view.vertices[root->vertex].thread;
    program_image_find(facts->context->graph, facts->view.threads[thread].process,
                       facts->there.path[0] ? facts->there.path : NULL, &image);
    json_put(row, "culprit_program", json_text(timeline_process(&facts->view, root->vertex)->name));
    json_put(row, "culprit_function", text_or_null(facts->there.function));
    json_put(row, "culprit_image",
             text_or_null(facts->there.image[0] ? facts->there.image : image.name));
    json_put(row, "culprit_build_id", text_or_null(image.build_id));
    json_put(row, "culprit_package", text_or_null(image.package));
    json_put(row, "culprit_version", text_or_null(image.version));
    json_put(row, "culprit_path", text_or_null(image.path));
}

static void put_figures(json_t *row, const struct facts *facts)
{
    const struct argus_hang *hang = &facts->diagnosis->hang;
    char cause[768];
    json_put(row, "path", text_or_null(facts->path));
    json_put(row, "waits", text_or_null(facts->waits));
    json_put(row, "cause",
             text_or_null(argus_diagnosis_cause_text(facts->context->graph, facts->diagnosis, cause,
                                                     sizeof(cause))));
    json_put(row, "run_ns", json_ns(fleet_duration_ns(hang->run_ns)));
    json_put(row, "runnable_ns", json_ns(fleet_duration_ns(hang->runnable_ns)));
    json_put(row, "wait_ns", json_ns(fleet_duration_ns(hang->wait_ns)));
    json_put(row, "yield_ns", json_ns(fleet_duration_ns(hang->yield_ns)));
    json_put(row, "guessed", json_boolean(facts->diagnosis->guessed));
    json_put(row, "shares", fleet_path_shares(&facts->view, facts->diagnosis));
}

static void put_source(json_t *row, const struct facts *facts, const struct fleet_source *source)
{
    const struct argus_trace *trace = argus_graph_trace(facts->context->graph);
    char format[64];
    json_put(row, "damaged", json_boolean(source->damaged));
    json_put(row, "kernel", text_or_null(argus_trace_header(trace)->host));
    json_put(row, "recorded", json_text(argus_trace_format(trace, format, sizeof(format))));
    json_put(row, "file", json_text(source->path));
    json_put(row, "number", json_ns(source->number));
}

json_t *fleet_row(const struct argus_report_context *context,
                  const struct argus_diagnosis *diagnosis, const struct fleet_source *source)
{
    struct facts facts;
    json_t *row = json_object();
    find_facts(context, diagnosis, &facts);
    put_identity(row, &facts, source);
    put_program(row, &facts);
    put_culprit(row, &facts);
    put_figures(row, &facts);
    put_source(row, &facts, source);
    return row;
}

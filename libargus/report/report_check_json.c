/* What looks wrong in a graph, as JSON: docs/schema/check.json. */
#include "report/report_check.h"

#include <stdio.h>

#include "report/json.h"
#include "report/report_unnamed.h"

static json_t *thread_json(const struct check_report *report, uint32_t index)
{
    const struct argus_thread *thread = &report->threads[index];
    const struct argus_process *process = &report->processes[thread->process];
    json_t *json = json_object();
    json_put(json, "process", json_text(process->name));
    json_put(json, "pid", json_ns(process->pid));
    json_put(json, "thread", json_text(thread->name));
    json_put(json, "tid", json_ns(thread->tid));
    return json;
}

static json_t *vertex_list_json(const uint32_t *vertices, uint32_t count)
{
    json_t *list = json_array();
    char name[16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "v%u", vertices[i]);
        json_add(list, json_text(name));
    }
    return list;
}

static json_t *invariants_json(const struct argus_verification *verification)
{
    json_t *list = json_array();
    for (size_t i = 0; i < verification->invariant_count; i++) {
        const struct argus_invariant *invariant = &verification->invariants[i];
        json_t *json = json_object();
        json_put(json, "name", json_text(invariant->name));
        json_put(json, "description", json_text(invariant->description));
        json_put(json, "checked", json_ns(invariant->checked));
        json_put(json, "violations", json_ns(invariant->violations));
        json_add(list, json);
    }
    return list;
}

static json_t *violations_json(const struct argus_verification *verification)
{
    json_t *list = json_array();
    for (size_t i = 0; i < verification->example_count; i++)
        json_add(list, json_text(verification->examples[i].text));
    return list;
}

static json_t *losses_json(const struct check_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->inspection->loss_count; i++) {
        const struct argus_loss *loss = &report->inspection->losses[i];
        uint64_t from_ns = argus_trace_ticks_to_ns(report->trace, loss->from_ticks);
        uint64_t to_ns = argus_trace_ticks_to_ns(report->trace, loss->to_ticks);
        json_t *json = json_object();
        json_put(json, "cpu", json_integer(loss->cpu));
        json_put(json, "records", json_ns(loss->count));
        json_put(json, "from_ns", loss->from_ticks ? json_ns(from_ns) : json_null());
        json_put(json, "to_ns", json_ns(to_ns));
        json_put(json, "until", json_time(report->trace, to_ns));
        json_add(list, json);
    }
    return list;
}

static json_t *notes_json(const struct check_report *report)
{
    json_t *list = json_array();
    const char *const *notes;
    size_t count = argus_trace_notes(report->trace, &notes);
    for (size_t i = 0; i < count; i++)
        if (check_report_is_gap_note(notes[i]))
            json_add(list, json_text(notes[i]));
    return list;
}

static json_t *place_json(const struct check_report *report, const struct argus_split_place *place)
{
    char text[256];
    if (place->vertex == ARGUS_NONE || !place->inside)
        return json_null();
    json_t *json = json_object(), *items = json_array();
    json_put(json, "inside",
             json_text(check_report_function(report, place, place->inside, text, sizeof(text))));
    for (int i = 0; i < 2; i++)
        if (place->item[i])
            json_add(items, json_text(check_report_function(report, place, place->item[i], text,
                                                            sizeof(text))));
    json_put(json, "calls", items);
    json_put(json, "exact", json_boolean(place->exact));
    json_put(json, "stack", json_stack(report->context, place->vertex, place->stack));
    return json;
}

static json_t *batching_json(const struct check_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->inspection->batching_count; i++) {
        const struct argus_batching *batching = &report->inspection->batching[i];
        json_t *json = thread_json(report, batching->thread), *peers = json_array();
        for (uint32_t k = 0; k < batching->peer_count; k++) {
            const struct argus_process *process = &report->processes[batching->peers[k].process];
            json_t *peer = json_object();
            json_put(peer, "process", json_text(process->name));
            json_put(peer, "pid", json_ns(process->pid));
            json_put(peer, "several", json_boolean(batching->peers[k].several));
            json_put(peer, "vertices", json_ns(batching->peers[k].vertices));
            json_add(peers, peer);
        }
        json_put(json, "vertices", json_ns(batching->vertices));
        json_put(json, "all_vertices", json_ns(batching->all));
        json_put(json, "caused_by_several", json_ns(batching->caused_by_several));
        json_put(json, "causes_in_several", json_ns(batching->causes_in_several));
        json_put(json, "most_applications", json_integer(batching->most));
        json_put(json, "applications", peers);
        json_put(json, "split", place_json(report, &batching->place));
        json_put(json, "examples", vertex_list_json(batching->examples, batching->example_count));
        json_add(list, json);
    }
    return list;
}

static json_t *counts_json(const uint64_t *counts)
{
    static const char *const keys[ARGUS_NO_CAUSES] = {"timer", "device", "kernel", "unseen",
                                                      "lost"};
    json_t *json = json_object();
    for (int i = 0; i < ARGUS_NO_CAUSES; i++)
        json_put(json, keys[i], json_ns(counts[i]));
    return json;
}

static json_t *unexplained_json(const struct check_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->inspection->unexplained_count; i++) {
        const struct argus_unexplained *thread = &report->inspection->unexplained[i];
        json_t *json = thread_json(report, thread->thread);
        json_put(json, "wakeups", json_ns(thread->wakeups));
        json_put(json, "without_cause", counts_json(thread->counts));
        json_put(json, "waited_ns", json_ns(thread->waited_ns));
        json_put(json, "examples", vertex_list_json(thread->examples, thread->example_count));
        json_add(list, json);
    }
    return list;
}

static json_t *missing_json(const struct check_report *report)
{
    json_t *list = json_array();
    char wait[512];
    for (size_t i = 0; i < report->inspection->missing_count; i++) {
        const struct argus_missing_edge *missing = &report->inspection->missing[i];
        json_t *json = thread_json(report, missing->thread);
        json_put(json, "polls", json_boolean(missing->polls));
        json_put(json, "times", json_ns(missing->waits));
        json_put(json, "total_ns", json_ns(missing->total_ns));
        json_put(json, "longest_ns", json_ns(missing->longest_ns));
        json_put(json, "wait_on",
                 json_text(argus_wait_text(report->context->graph, missing->examples[0], wait,
                                           sizeof(wait))));
        json_put(json, "stack", json_stack(report->context, missing->examples[0], missing->stack));
        json_put(json, "examples", vertex_list_json(missing->examples, missing->example_count));
        json_add(list, json);
    }
    return list;
}

json_t *check_report_json(const struct check_report *report)
{
    const struct argus_inspection *inspection = report->inspection;
    const struct argus_verification *verification = report->verification;
    json_t *json = json_object();
    json_put(json, "file", json_text(argus_trace_name(report->trace)));
    json_put(json, "vertices", json_ns(verification->vertices));
    json_put(json, "edges", json_ns(verification->edges));
    json_put(json, "sound", json_boolean(verification->violations == 0));
    json_put(json, "violations", json_ns(verification->violations));
    json_put(json, "violation_examples", violations_json(verification));
    json_put(json, "invariants", invariants_json(verification));
    json_put(json, "lost", json_ns(argus_trace_lost_count(report->trace)));
    json_put(json, "gaps", json_ns(inspection->loss_total));
    json_put(json, "largest_gaps", losses_json(report));
    json_put(json, "gap_vertices", json_ns(inspection->gap_vertices));
    json_put(json, "damaged_chunks", json_ns(argus_graph_damaged_chunks(report->context->graph)));
    json_put(json, "notes", notes_json(report));
    json_put(json, "batching_vertices", json_ns(inspection->batching_vertices));
    json_put(json, "batching_threads", json_ns(inspection->batching_threads));
    json_put(json, "relays", json_ns(inspection->relays));
    json_put(json, "batching", batching_json(report));
    json_put(json, "wakeups", json_ns(inspection->wakeups));
    json_put(json, "without_cause", counts_json(inspection->unexplained_totals));
    json_put(json, "kernel_without_cause", json_ns(inspection->kernel_unexplained));
    json_put(json, "unexplained_threads", json_ns(inspection->unexplained_threads));
    json_put(json, "unexplained", unexplained_json(report));
    json_put(json, "missing_places", json_ns(inspection->missing_places));
    json_put(json, "missing_edges", missing_json(report));
    json_put(json, "unnamed_frames", json_unnamed(report->context->symbols));
    return json;
}

/* What looks wrong in a graph, as text. */
#include "report/report_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/shown.h"
#include "diagnose/words.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/report_unnamed.h"

/* The number of frames that are shown of a stack. */
enum { FRAMES = 6 };

const char *check_report_function(const struct check_report *report,
                                  const struct argus_split_place *place, uint64_t address,
                                  char *buffer, size_t bytes)
{
    struct argus_symbols *symbols = report->context->symbols;
    const struct argus_vertex *vertex = &report->vertices[place->vertex];
    struct argus_symbol symbol = {0};
    if (symbols)
        symbol = argus_symbols_show(symbols, report->threads[vertex->thread].process,
                                    vertex->end_ns, address, true);
    return argus_symbol_text(&symbol, address, buffer, bytes);
}

bool check_report_is_gap_note(const char *note)
{
    return strncmp(note, "recorded ", strlen("recorded ")) == 0;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void examples_text(const struct argus_sink *sink, const uint32_t *vertices, uint32_t count)
{
    if (count)
        argus_sink_printf(sink, "     e.g.");
    for (uint32_t i = 0; i < count; i++)
        argus_sink_printf(sink, " v%" PRIu32, vertices[i]);
    if (count)
        argus_sink_printf(sink, "\n");
}

/* --- invariants --- */

static void invariants_text(const struct check_report *report)
{
    const struct argus_verification *verification = report->verification;
    const struct argus_sink *sink = report->context->sink;
    size_t broken = 0;
    for (size_t i = 0; i < verification->invariant_count; i++)
        broken += verification->invariants[i].violations > 0;
    if (!broken) {
        argus_sink_printf(
            sink, "%zu invariants hold over %" PRIu64 " vertices and %" PRIu64 " edges.\n",
            verification->invariant_count, verification->vertices, verification->edges);
        return;
    }
    argus_sink_printf(sink,
                      "The graph is BROKEN: %zu of %zu invariants do not hold over %" PRIu64
                      " vertices and %" PRIu64 " edges, %" PRIu64 " violations.\n",
                      broken, verification->invariant_count, verification->vertices,
                      verification->edges, verification->violations);
    for (size_t i = 0; i < verification->invariant_count; i++)
        if (verification->invariants[i].violations)
            argus_sink_printf(
                sink, "  %-16s %10" PRIu64 " of %" PRIu64 ": %s\n",
                verification->invariants[i].name, verification->invariants[i].violations,
                verification->invariants[i].checked, verification->invariants[i].description);
    for (size_t i = 0; i < verification->example_count; i++)
        argus_sink_printf(sink, "  %s\n", verification->examples[i].text);
}

/* --- what is missing in the trace --- */

static void loss_text(const struct check_report *report, const struct argus_loss *loss)
{
    char from[32], lasted[32];
    uint64_t from_ns = argus_trace_ticks_to_ns(report->trace, loss->from_ticks);
    uint64_t to_ns = argus_trace_ticks_to_ns(report->trace, loss->to_ticks);
    const struct argus_sink *sink = report->context->sink;
    argus_sink_printf(sink, "  cpu %-3" PRIu32 " ", loss->cpu);
    if (loss->from_ticks)
        argus_sink_printf(
            sink, "from %s, for %s: ", argus_time_text(report->trace, from_ns, from, sizeof(from)),
            argus_duration_text(to_ns - from_ns, lasted, sizeof(lasted)));
    else
        argus_sink_printf(sink,
                          "until %s: ", argus_time_text(report->trace, to_ns, from, sizeof(from)));
    argus_sink_printf(sink, "%" PRIu64 " record%s\n", loss->count, plural(loss->count));
}

static void damage_text(const struct check_report *report)
{
    const struct argus_damage *damage;
    size_t count = argus_trace_damage(report->trace, &damage);
    const struct argus_sink *sink = report->context->sink;
    uint64_t chunks = argus_graph_damaged_chunks(report->context->graph);
    for (size_t i = 0; i < count; i++)
        argus_sink_printf(sink, "  damaged: %" PRIu64 " bytes at offset %" PRIu64 ": %s\n",
                          damage[i].length_bytes, damage[i].offset_bytes, damage[i].reason);
    if (chunks)
        argus_sink_printf(
            sink, "  damaged: %" PRIu64 " chunks of records left out (argus verify lists them)\n",
            chunks);
}

static void notes_text(const struct check_report *report)
{
    const struct argus_sink *sink = report->context->sink;
    const char *const *notes;
    size_t count = argus_trace_notes(report->trace, &notes), shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (!check_report_is_gap_note(notes[i]) || shown++ >= SHOWN_WARNINGS)
            continue;
        size_t length = strlen(notes[i]), bytes = shown_note_bytes(notes[i], length);
        argus_sink_printf(sink, "  %.*s%s\n", (int)bytes, notes[i], bytes < length ? "…" : "");
    }
    if (shown > SHOWN_WARNINGS)
        argus_sink_printf(sink, "  … %zu notes more (--json prints all)\n", shown - SHOWN_WARNINGS);
}

static void gaps_text(const struct check_report *report)
{
    const struct argus_inspection *inspection = report->inspection;
    const struct argus_sink *sink = report->context->sink;
    report_heading(sink, "Missing records");
    if (inspection->loss_total)
        argus_sink_printf(sink,
                          "%" PRIu64 " records were lost in %zu gap%s; they touch %" PRIu64
                          " of the vertices.\n",
                          argus_trace_lost_count(report->trace), inspection->loss_total,
                          plural(inspection->loss_total), inspection->gap_vertices);
    else
        argus_sink_printf(sink, "No record was lost while recording.\n");
    for (size_t i = 0; i < inspection->loss_count; i++)
        loss_text(report, &inspection->losses[i]);
    if (inspection->loss_count < inspection->loss_total)
        argus_sink_printf(sink, "  … %zu smaller gaps more\n",
                          inspection->loss_total - inspection->loss_count);
    damage_text(report);
    notes_text(report);
}

/* --- batching --- */

static void peers_text(const struct check_report *report, const struct argus_batching *batching)
{
    const struct argus_sink *sink = report->context->sink;
    argus_sink_printf(sink, "     with");
    for (uint32_t i = 0; i < batching->peer_count; i++) {
        const struct argus_peer *peer = &batching->peers[i];
        const struct argus_process *process = &report->processes[peer->process];
        argus_sink_printf(sink, "%s %s [%" PRIu64 "%s] (%" PRIu64 ")", i ? "," : "", process->name,
                          process->pid, peer->several ? " …" : "", peer->vertices);
    }
    if (batching->more_peers)
        argus_sink_printf(sink, " and others");
    argus_sink_printf(sink, "\n");
}

/* Prints the line of argus-rules(5) that would begin a segment in the function at `address`;
 * nothing for a function that every program has. */
static void rule_text(const struct check_report *report, const struct argus_split_place *place,
                      uint64_t address)
{
    const struct argus_vertex *vertex = &report->vertices[place->vertex];
    if (!report->context->symbols || !address)
        return;
    struct argus_symbol symbol =
        argus_symbols_show(report->context->symbols, report->threads[vertex->thread].process,
                           vertex->end_ns, address, true);
    if (!symbol.function || !symbol.image || is_base_library(symbol.image))
        return;
    const char *image = strrchr(symbol.image, '/');
    bool plain = symbol.function[strcspn(symbol.function, " \t\"#")] == '\0';
    argus_sink_printf(report->context->sink, "     a rule for that: begin %s%s%s in %s\n",
                      plain ? "" : "\"", symbol.function, plain ? "" : "\"",
                      image ? image + 1 : symbol.image);
}

static void place_text(const struct check_report *report, const struct argus_split_place *place)
{
    const struct argus_sink *sink = report->context->sink;
    char inside[256], items[2][256];
    if (place->vertex == ARGUS_NONE || !place->inside) {
        argus_sink_printf(sink,
                          place->vertex == ARGUS_NONE
                              ? "     where to split is not known: no stacks were recorded there\n"
                              : "     where to split is not known: the stacks of v%" PRIu32
                                " share no function (--call-stacks records whole ones)\n",
                          place->vertex);
        return;
    }
    if (!place->exact) {
        argus_sink_printf(sink, "     split in one of the functions that are in progress:\n");
        report_stack(report->context, place->vertex, place->stack, 7, FRAMES);
        return;
    }
    check_report_function(report, place, place->inside, inside, sizeof(inside));
    for (int i = 0; i < 2; i++)
        if (place->item[i])
            check_report_function(report, place, place->item[i], items[i], sizeof(items[i]));
    argus_sink_printf(sink, "     split in %s", inside);
    if (place->item[0])
        argus_sink_printf(sink, ", where it calls %s", items[0]);
    if (place->item[1] && strcmp(items[0], items[1]) != 0)
        argus_sink_printf(sink, " and %s", items[1]);
    argus_sink_printf(sink, "\n");
    rule_text(report, place, place->item[0]);
    if (place->item[1] && strcmp(items[0], items[1]) != 0)
        rule_text(report, place, place->item[1]);
}

static void batching_text(const struct check_report *report)
{
    const struct argus_inspection *inspection = report->inspection;
    const struct argus_sink *sink = report->context->sink;
    char thread[128];
    report_heading(sink, "Batching: segments that serve two or more applications");
    if (inspection->batching_vertices)
        argus_sink_printf(sink, "%" PRIu64 " suspect%s in %zu thread%s",
                          inspection->batching_vertices, plural(inspection->batching_vertices),
                          inspection->batching_threads, plural(inspection->batching_threads));
    else
        argus_sink_printf(sink, "No suspects");
    if (inspection->relays)
        argus_sink_printf(
            sink, "; %" PRIu64 " others only pass something from one application to another",
            inspection->relays);
    argus_sink_printf(sink, ".\n");
    for (size_t i = 0; i < inspection->batching_count; i++) {
        const struct argus_batching *batching = &inspection->batching[i];
        argus_sink_printf(sink, "%3zu  %s: %" PRIu64 " of %" PRIu64 " segments", i + 1,
                          report_thread(report->context, batching->thread, thread, sizeof(thread)),
                          batching->vertices, batching->all);
        argus_sink_printf(sink,
                          "; %" PRIu64 " caused by several, %" PRIu64
                          " cause something in several; up to %" PRIu32 " at a time\n",
                          batching->caused_by_several, batching->causes_in_several, batching->most);
        peers_text(report, batching);
        place_text(report, &batching->place);
        examples_text(sink, batching->examples, batching->example_count);
    }
    if (inspection->batching_count < inspection->batching_threads)
        argus_sink_printf(sink, "  … %zu threads more\n",
                          inspection->batching_threads - inspection->batching_count);
}

/* --- causes --- */

static void counts_text(const struct argus_sink *sink, const uint64_t *counts)
{
    const char *between = "";
    for (int i = 0; i < ARGUS_NO_CAUSES; i++) {
        if (!counts[i])
            continue;
        argus_sink_printf(sink, "%s%" PRIu64 " %s", between, counts[i],
                          argus_no_cause_name((enum argus_no_cause)i));
        between = "; ";
    }
    argus_sink_printf(sink, "\n");
}

static void unexplained_thread_text(const struct check_report *report, size_t number,
                                    const struct argus_unexplained *thread)
{
    const struct argus_sink *sink = report->context->sink;
    char name[128], waited[32];
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_NO_CAUSES; i++)
        sum += thread->counts[i];
    argus_sink_printf(sink, "%3zu  %s: %" PRIu64 " of %" PRIu64 " wake-ups", number,
                      report_thread(report->context, thread->thread, name, sizeof(name)), sum,
                      thread->wakeups);
    if (thread->waited_ns)
        argus_sink_printf(sink, ", after %s of waiting for an unknown thread",
                          argus_duration_text(thread->waited_ns, waited, sizeof(waited)));
    argus_sink_printf(sink, "\n     ");
    counts_text(sink, thread->counts);
    examples_text(sink, thread->examples, thread->example_count);
}

static void unexplained_text(const struct check_report *report)
{
    const struct argus_inspection *inspection = report->inspection;
    const struct argus_sink *sink = report->context->sink;
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_NO_CAUSES; i++)
        sum += inspection->unexplained_totals[i];
    report_heading(sink, "Wake-ups without a known cause");
    argus_sink_printf(sink, "%" PRIu64 " of %" PRIu64 " wake-ups of programs (%.1f %%)", sum,
                      inspection->wakeups, percent(sum, inspection->wakeups));
    argus_sink_printf(sink, sum ? ": " : ".\n");
    if (sum)
        counts_text(sink, inspection->unexplained_totals);
    if (inspection->kernel_unexplained)
        argus_sink_printf(sink,
                          "%" PRIu64 " of kernel threads and of the recorder are not listed.\n",
                          inspection->kernel_unexplained);
    for (size_t i = 0; i < inspection->unexplained_count; i++)
        unexplained_thread_text(report, i + 1, &inspection->unexplained[i]);
    if (inspection->unexplained_count < inspection->unexplained_threads)
        argus_sink_printf(sink, "  … %zu threads more\n",
                          inspection->unexplained_threads - inspection->unexplained_count);
}

static void missing_place_text(const struct check_report *report, size_t number,
                               const struct argus_missing_edge *missing)
{
    const struct argus_sink *sink = report->context->sink;
    char thread[128], total[32], longest[32], wait[512];
    argus_sink_printf(sink, "%3zu  %s: ", number,
                      report_thread(report->context, missing->thread, thread, sizeof(thread)));
    argus_sink_printf(sink, "%s %" PRIu64 " time%s, %s", missing->polls ? "polled" : "waited",
                      missing->waits, plural(missing->waits),
                      argus_duration_text(missing->total_ns, total, sizeof(total)));
    if (missing->waits > 1)
        argus_sink_printf(sink, " in all, up to %s",
                          argus_duration_text(missing->longest_ns, longest, sizeof(longest)));
    argus_sink_printf(
        sink, ": %s\n",
        argus_wait_text(report->context->graph, missing->examples[0], wait, sizeof(wait)));
    if (missing->polls)
        argus_sink_printf(sink, "     in a loop: for a data flag? (argus watchflag)\n");
    report_stack(report->context, missing->examples[0], missing->stack, 5, FRAMES);
    examples_text(sink, missing->examples, missing->example_count);
}

static void missing_text(const struct check_report *report)
{
    const struct argus_inspection *inspection = report->inspection;
    const struct argus_sink *sink = report->context->sink;
    char least[32];
    report_heading(sink, "Long waits that ended without an edge");
    argus_duration_text(report->long_ns, least, sizeof(least));
    if (inspection->missing_places)
        argus_sink_printf(sink, "%zu place%s in which a program waited or polled for %s or more.\n",
                          inspection->missing_places, plural(inspection->missing_places), least);
    else
        argus_sink_printf(sink, "None of %s or more.\n", least);
    for (size_t i = 0; i < inspection->missing_count; i++)
        missing_place_text(report, i + 1, &inspection->missing[i]);
    if (inspection->missing_count < inspection->missing_places)
        argus_sink_printf(sink, "  … %zu places more\n",
                          inspection->missing_places - inspection->missing_count);
}

struct argus_error *argus_report_check(const struct argus_report_context *context,
                                       const struct argus_inspection *inspection,
                                       const struct argus_verification *verification,
                                       uint64_t long_ns, bool json)
{
    struct check_report report = {
        .context = context,
        .inspection = inspection,
        .verification = verification,
        .trace = argus_graph_trace(context->graph),
        .long_ns = long_ns,
    };
    argus_graph_processes(context->graph, &report.processes);
    argus_graph_threads(context->graph, &report.threads);
    argus_graph_vertices(context->graph, &report.vertices);
    if (json)
        return json_write(context->sink, "argus-graph-check 1", check_report_json(&report));
    invariants_text(&report);
    if (!verification->violations) {
        gaps_text(&report);
        batching_text(&report);
        unexplained_text(&report);
        missing_text(&report);
    }
    report_unnamed(context->sink, context->symbols);
    return NULL;
}

/* Each hang as a slice on a track of its own, named by the first sentence of its diagnosis; below
 * it what the frozen thread waited for, moment by moment; and a track for each root cause. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "export/perfetto_writer.h"
#include "report/diagnosis_words.h"
#include "report/lines.h"

/* Stretches of one thread and state that follow each other are one slice. */
static bool is_alike(const struct perfetto *out, const struct argus_stretch *a,
                     const struct argus_stretch *b)
{
    return a->state == b->state && (a->vertex == ARGUS_NONE) == (b->vertex == ARGUS_NONE) &&
           (a->vertex == ARGUS_NONE ||
            out->view.vertices[a->vertex].thread == out->view.vertices[b->vertex].thread);
}

static void put_stretches(struct perfetto *out, uint64_t track, const struct argus_account *account)
{
    char name[256], thread[128];
    for (size_t i = 0, next; i < account->count && !perfetto_stopped(out); i = next) {
        const struct argus_stretch *first = &account->stretches[i];
        next = i + 1;
        while (next < account->count && is_alike(out, first, &account->stretches[next]))
            next++;
        uint32_t of =
            first->vertex == ARGUS_NONE ? ARGUS_NONE : out->view.vertices[first->vertex].thread;
        snprintf(name, sizeof(name), "%s: %s",
                 of == ARGUS_NONE ? "unknown"
                                  : report_thread(out->context, of, thread, sizeof(thread)),
                 argus_stretch_state_name((enum argus_stretch_state)first->state));
        utf8_repair_name(name, strlen(name));
        perfetto_put_slice(out, PERFETTO_BEGIN, track, first->start_ns, "diagnosis", name);
        perfetto_put_slice(out, PERFETTO_END, track, account->stretches[next - 1].end_ns, NULL,
                           NULL);
    }
}

static void put_culprit(struct perfetto *out, uint64_t track, uint64_t parent,
                        const struct argus_culprit *culprit)
{
    char words[DIAGNOSIS_SUMMARY_BYTES];
    perfetto_put_track(out, track, parent, "root cause");
    diagnosis_culprit_text(out->context, culprit, words, sizeof(words));
    utf8_repair_name(words, strlen(words));
    perfetto_put_slice(out, PERFETTO_BEGIN, track, culprit->start_ns, "root cause", words);
    perfetto_put_slice(out, PERFETTO_END, track, culprit->end_ns, NULL, NULL);
}

/* Writes one hang; returns the next free track. */
static uint64_t put_hang(struct perfetto *out, uint64_t track, const struct argus_export_hang *item)
{
    const struct argus_hang *hang = item->hang;
    const struct argus_diagnosis *diagnosis = item->diagnosis;
    char words[DIAGNOSIS_SUMMARY_BYTES], thread[128];
    uint64_t own = track;
    report_thread(out->context, hang->thread, thread, sizeof(thread));
    if (!diagnosis || !diagnosis_summary_text(out->context->graph, diagnosis, words, sizeof(words)))
        snprintf(words, sizeof(words), "%s: hang", thread);
    utf8_repair_name(words, strlen(words));
    utf8_repair_name(thread, strlen(thread));
    perfetto_put_track(out, own, PERFETTO_DIAGNOSIS_TRACK, thread);
    perfetto_put_slice(out, PERFETTO_BEGIN, own, hang->start_ns, "diagnosis", words);
    if (diagnosis)
        put_stretches(out, own, &diagnosis->accounting);
    perfetto_put_slice(out, PERFETTO_END, own, hang->end_ns, NULL, NULL);
    for (size_t i = 0; diagnosis && i < diagnosis->culprit_count; i++)
        put_culprit(out, ++track, own, &diagnosis->culprits[i]);
    return track + 1;
}

void perfetto_put_diagnosis(struct perfetto *out)
{
    uint64_t track = PERFETTO_DIAGNOSIS_TRACK + 1;
    if (out->part->hang_count)
        perfetto_put_track(out, PERFETTO_DIAGNOSIS_TRACK, 0, "Argus: diagnosis");
    for (size_t i = 0; i < out->part->hang_count && !perfetto_stopped(out); i++)
        track = put_hang(out, track, &out->part->hangs[i]);
}

/* A divergence as text: the loop, where the runs parted, what decided, and which variables to
 * watch. */
#include "report/report_divergence.h"

#include <stdio.h>
#include <string.h>

#include "report/lines.h"

enum { TEXT_BYTES = 512, CANDIDATES_SHOWN = 8, DECISIONS_SHOWN = 6 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "wait_until (settings.c:62)", "settings+0x1234", "0x7f…"; into `buffer`. */
const char *report_place_text(const struct argus_code_place *place, char *buffer, size_t bytes)
{
    if (place->function && place->file)
        snprintf(buffer, bytes, "%s (%s:%u)", place->function, last_part(place->file), place->line);
    else if (place->function)
        snprintf(buffer, bytes, "%s+0x%llx", place->function,
                 (unsigned long long)place->function_offset);
    else if (place->image)
        snprintf(buffer, bytes, "%s+0x%llx", last_part(place->image),
                 (unsigned long long)place->image_offset);
    else
        snprintf(buffer, bytes, "0x%llx", (unsigned long long)place->address);
    return buffer;
}

static void print_run(const struct argus_sink *sink, const char *what,
                      const struct argus_steps *steps)
{
    const uint64_t *pcs;
    const struct argus_steps_about *about = argus_steps_about(steps);
    argus_sink_printf(sink, "%-7s %s: %zu steps of %s [%llu], thread %llu\n", what,
                      argus_steps_path(steps), argus_steps_pcs(steps, &pcs), about->comm,
                      (unsigned long long)about->pid, (unsigned long long)about->tid);
}

static void print_loop(const struct argus_sink *sink, const struct argus_divergence *divergence)
{
    char text[TEXT_BYTES];
    const struct argus_spin_loop *loop = &divergence->loop;
    if (!divergence->has_loop)
        return;
    argus_sink_printf(sink, "\n%s went round a loop at %s: %u turns, the last of %u steps%s.\n",
                      divergence->alone ? "The thread" : "The bad run",
                      report_place_text(&loop->head, text, sizeof(text)), loop->turns,
                      loop->turn_steps,
                      loop->to_the_end ? ", to the end of the trace" : ", and left it");
}

static void print_code(const struct argus_sink *sink, const char *prefix,
                       const struct argus_code_place *place)
{
    char text[TEXT_BYTES];
    argus_sink_printf(sink, "%s%-34s  %s\n", prefix, place->text ? place->text : "",
                      report_place_text(place, text, sizeof(text)));
}

static void print_first(const struct argus_sink *sink, const struct argus_divergence *divergence)
{
    static const char *const names[2] = {"     normal  ", "     bad     "};
    const struct argus_first_divergence *first = &divergence->first;
    if (divergence->alone)
        return;
    report_heading(sink, "First divergence");
    if (!first->found) {
        argus_sink_printf(sink, "  none: the bad run has gone every way that the normal one went "
                                "(loops as one turn)\n");
        return;
    }
    argus_sink_printf(sink, "  after step %u of the normal run, %u of the bad one:\n",
                      first->steps[0], first->steps[1]);
    print_code(sink, "     ", &first->last_common);
    for (unsigned i = 0; i < 2; i++)
        if (first->to[i].address)
            print_code(sink, names[i], &first->to[i]);
        else
            argus_sink_printf(sink, "%sthe trace ends here\n", names[i]);
}

static void print_ways(const struct argus_sink *sink, const struct argus_decision *decision,
                       bool alone)
{
    char text[TEXT_BYTES];
    for (size_t i = 0; i < decision->way_count; i++) {
        const struct argus_decision_way *way = &decision->ways[i];
        argus_sink_printf(sink, "       to %s: ", report_place_text(&way->to, text, sizeof(text)));
        if (alone)
            argus_sink_printf(sink, "%u times\n", way->counts[1]);
        else
            argus_sink_printf(sink, "normal %u, bad %u times\n", way->counts[0], way->counts[1]);
    }
}

/* Prints what the branch depends on, by the candidates' numbers. */
static void print_dependence(const struct argus_sink *sink, const struct argus_decision *decision)
{
    argus_sink_printf(sink, "       depends on");
    for (size_t i = 0; i < decision->candidate_count; i++)
        argus_sink_printf(sink, "%s variable %u", i ? "," : "", decision->candidates[i] + 1);
    if (decision->results)
        argus_sink_printf(sink, "%s the result of %s", decision->candidate_count ? ", and" : "",
                          decision->results);
    if (!decision->candidate_count && !decision->results)
        argus_sink_printf(sink, " registers alone: a counter, or what was there before the trace");
    argus_sink_printf(sink, "\n");
}

static void print_decisions(const struct argus_sink *sink,
                            const struct argus_divergence *divergence)
{
    size_t left = divergence->decisions_left_out;
    report_heading(sink, divergence->alone ? "Ways out of the loop" : "What decided");
    if (divergence->decision_count == 0)
        argus_sink_printf(sink, divergence->alone
                                    ? "  none: no branch in it always went one way\n"
                                    : "  nothing: no branch went a way in one run only\n");
    for (size_t i = 0; i < divergence->decision_count; i++) {
        const struct argus_decision *decision = &divergence->decisions[i];
        if (i >= DECISIONS_SHOWN) {
            left += divergence->decision_count - i;
            break;
        }
        argus_sink_printf(sink, "  %zu. %s\n", i + 1,
                          decision->leaves_loop ? "leads out of the loop"
                          : decision->in_loop   ? "in the loop"
                                                : "outside the loop");
        if (decision->compare.address)
            print_code(sink, "       ", &decision->compare);
        print_code(sink, "       ", &decision->branch);
        print_ways(sink, decision, divergence->alone);
        print_dependence(sink, decision);
    }
    if (left)
        argus_sink_printf(
            sink, "  %zu more of less weight (--json has those that were looked at)\n", left);
}

/* "did_reconfigure in settings", "display->0x28 in settings", "0x7ffc… in the stack frame of …". */
static void print_where(const struct argus_sink *sink, const struct argus_flag_candidate *one)
{
    if (one->member)
        argus_sink_printf(sink, "%s", one->member);
    else if (one->path)
        argus_sink_printf(sink, "%s", one->path);
    else if (one->symbol && one->symbol_offset)
        argus_sink_printf(sink, "%s+0x%llx", one->symbol, (unsigned long long)one->symbol_offset);
    else if (one->symbol)
        argus_sink_printf(sink, "%s", one->symbol);
    else if (one->image)
        argus_sink_printf(sink, "0x%llx", (unsigned long long)one->image_offset);
    else if (one->address)
        argus_sink_printf(sink, "memory");
    else
        argus_sink_printf(sink, "a variable");
    if (one->member_in)
        argus_sink_printf(sink, " (%.*s in %s)", (int)strcspn(one->member, ".-["), one->member,
                          one->member_in);
    else if (one->image)
        argus_sink_printf(sink, " in %s", last_part(one->image));
    argus_sink_printf(sink, ", %u byte%s", one->size_bytes, one->size_bytes == 1 ? "" : "s");
    if (one->address)
        argus_sink_printf(sink, " at 0x%llx", (unsigned long long)one->address);
    argus_sink_printf(sink, one->where == ARGUS_FLAG_THREAD_LOCAL ? " (thread-local)\n"
                            : one->where == ARGUS_FLAG_HEAP       ? " (heap)\n"
                            : one->where == ARGUS_FLAG_STACK      ? " (stack)\n"
                                                                  : "\n");
}

static void print_candidate(const struct argus_sink *sink, const struct argus_flag_candidate *one,
                            size_t number)
{
    argus_sink_printf(sink, "  %zu. ", number);
    print_where(sink, one);
    argus_sink_printf(sink, "     ");
    report_wrapped(sink, 5, one->why);
    if (one->detail) {
        argus_sink_printf(sink, "     ");
        report_wrapped(sink, 5, one->detail);
    }
    print_code(sink, "     read by  ", &one->load);
    if (one->command && one->role == ARGUS_FLAG_CANDIDATE)
        argus_sink_printf(sink, "     %s\n", one->command);
}

static void print_candidates(const struct argus_sink *sink,
                             const struct argus_divergence *divergence)
{
    bool others = false;
    report_heading(sink, "Data-flag candidates");
    if (divergence->candidate_count == 0 || divergence->candidates[0].role != ARGUS_FLAG_CANDIDATE)
        argus_sink_printf(sink, "  none: no branch above depends on memory that others write\n");
    for (size_t i = 0; i < divergence->candidate_count; i++) {
        const struct argus_flag_candidate *one = &divergence->candidates[i];
        if (i >= CANDIDATES_SHOWN && one->role == ARGUS_FLAG_CANDIDATE)
            continue;
        if (one->role != ARGUS_FLAG_CANDIDATE && !others)
            report_heading(sink, "Counters, deadlines and constants");
        others |= one->role != ARGUS_FLAG_CANDIDATE;
        print_candidate(sink, one, i + 1);
    }
}

struct argus_error *argus_report_divergence(const struct argus_sink *sink,
                                            struct argus_steps *normal, struct argus_steps *bad,
                                            const struct argus_divergence *divergence, bool json)
{
    struct argus_steps *const runs[2] = {normal, bad};
    if (json)
        return report_divergence_json(sink, runs, divergence);
    if (normal)
        print_run(sink, "normal", normal);
    print_run(sink, normal ? "bad" : "trace", bad);
    print_loop(sink, divergence);
    print_first(sink, divergence);
    print_decisions(sink, divergence);
    print_candidates(sink, divergence);
    if (divergence->note_count)
        report_heading(sink, "Notes");
    for (size_t i = 0; i < divergence->note_count; i++) {
        argus_sink_printf(sink, "  ");
        report_wrapped(sink, 2, divergence->notes[i]);
    }
    return NULL;
}

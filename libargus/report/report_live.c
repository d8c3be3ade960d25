/* Why a process does not go on, as text: the sentence, the path, where to look, what its other
 * threads wait for, what is uncertain. */
#include "report/report_live.h"

#include "argus/report.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/live_busy.h"
#include "report/live_goroutine_list.h"
#include "report/live_words.h"

enum { MOST_FRAMES = 12, MOST_THREADS = 20 };

/* What a process says about itself, as a line of its own. */
static void print_title(const struct argus_sink *sink, const struct argus_live *live,
                        uint32_t thread)
{
    const struct argus_live_process *process =
        argus_live_process_at(live, argus_live_thread_at(live, thread)->process);
    if (process->title)
        argus_sink_printf(sink, "     (it calls itself \"%s\")\n",
                          argus_live_text(live, process->title));
}

static void print_candidates(const struct argus_sink *sink, const struct argus_live *live,
                             const struct argus_live_answer *answer)
{
    char name[LIVE_TEXT_BYTES], client[LIVE_TEXT_BYTES];
    const char *what = answer->end == ARGUS_LIVE_END_SLEEPS ? "has locked a file that it may want"
                       : answer->end != ARGUS_LIVE_END_SEVERAL
                           ? "shares its memory, and may hold what it waits for"
                           : "could end it";
    for (size_t i = 0; i < answer->candidate_count; i++) {
        const struct argus_live_candidate *candidate = &answer->candidates[i];
        bool has_client = candidate->client != ARGUS_LIVE_NONE;
        argus_sink_printf(
            sink, "     %s: %s%s%s\n", what,
            live_thread_text(live, candidate->thread, name, sizeof(name)),
            has_client ? ", which serves " : "",
            has_client ? live_thread_text(live, candidate->client, client, sizeof(client)) : "");
        print_title(sink, live, candidate->thread);
    }
}

static void print_path(const struct argus_sink *sink, const struct argus_live *live,
                       const struct argus_live_answer *answer)
{
    char text[LIVE_TEXT_BYTES];
    report_heading(sink, "What waits for what, now");
    for (size_t i = 0; i < answer->step_count; i++) {
        argus_sink_printf(sink, "  %zu. ", i + 1);
        report_wrapped(sink, 5, live_step_text(live, answer, i, text, sizeof(text)));
        print_title(sink, live, answer->steps[i].thread);
    }
    if (answer->circle != ARGUS_LIVE_NONE)
        argus_sink_printf(sink, "  This is a circle: the last leads to %u.\n", answer->circle + 1);
    print_candidates(sink, live, answer);
}

static void print_stack(const struct argus_sink *sink, const struct argus_live *live,
                        const struct argus_live_answer *answer, const struct argus_live_step *step)
{
    char text[LIVE_TEXT_BYTES];
    const struct argus_live_thread *thread = argus_live_thread_at(live, step->thread);
    const char *call = argus_live_call_name(thread);
    argus_sink_printf(sink, "  %s%s%s:\n", live_thread_text(live, step->thread, text, sizeof(text)),
                      call ? ", in " : "", call ? call : "");
    if (!step->frame_count)
        argus_sink_printf(sink, "    its stack is not known%s\n",
                          thread->state == 'R' ? ", because it runs" : "");
    for (uint32_t i = 0; i < step->frame_count && i < MOST_FRAMES; i++)
        argus_sink_printf(
            sink, "    %s\n",
            live_frame_text(live, &answer->frames[step->first_frame + i], text, sizeof(text)));
    if (step->frame_count > MOST_FRAMES)
        argus_sink_printf(sink, "    … %u more frames\n", step->frame_count - MOST_FRAMES);
}

static void print_stacks(const struct argus_sink *sink, const struct argus_live *live,
                         const struct argus_live_answer *answer)
{
    size_t last = answer->step_count - 1;
    bool has_stack = !answer->samples || answer->steps[last].frame_count;
    if (!has_stack && last == 0)
        return;
    report_heading(sink, "Where to look");
    if (has_stack)
        print_stack(sink, live, answer, &answer->steps[last]);
    for (size_t i = 0; i < last; i++)
        print_stack(sink, live, answer, &answer->steps[i]);
}

static bool is_on_path(const struct argus_live_answer *answer, uint32_t thread)
{
    for (size_t i = 0; i < answer->step_count; i++)
        if (answer->steps[i].thread == thread)
            return true;
    return false;
}

static void print_others(const struct argus_sink *sink, struct argus_live *live, uint32_t thread,
                         const struct argus_live_answer *answer)
{
    const struct argus_live_process process =
        *argus_live_process_at(live, argus_live_thread_at(live, thread)->process);
    uint32_t printed = 0, end = process.first_thread + process.thread_count;
    char name[LIVE_TEXT_BYTES], text[LIVE_TEXT_BYTES];
    for (uint32_t i = process.first_thread; i < end; i++) {
        if (is_on_path(answer, i) || printed++ >= MOST_THREADS)
            continue;
        if (printed == 1)
            report_heading(sink, "Other threads of the process");
        const struct argus_live_wait wait = argus_live_wait_of(live, i);
        argus_sink_printf(sink, "  %s %s\n", live_thread_text(live, i, name, sizeof(name)),
                          live_wait_text(live, &wait, text, sizeof(text)));
    }
    if (printed > MOST_THREADS)
        argus_sink_printf(sink, "  … %u more\n", printed - MOST_THREADS);
}

static void print_uncertain(const struct argus_sink *sink, const struct argus_live *live,
                            const struct argus_live_answer *answer)
{
    char text[LIVE_TEXT_BYTES];
    for (size_t i = 0; live_uncertain_text(live, answer, i, text, sizeof(text)); i++) {
        if (i == 0)
            report_heading(sink, "What is uncertain");
        argus_sink_printf(sink, "  - ");
        report_wrapped(sink, 4, text);
    }
}

struct argus_error *argus_report_live(const struct argus_sink *sink, struct argus_live *live,
                                      uint32_t thread, const struct argus_live_answer *answer,
                                      bool json, const char *recording)
{
    char text[2 * LIVE_TEXT_BYTES];
    if (json)
        return json_write(sink, "argus-why 1", json_live(live, thread, answer, recording));
    report_wrapped(sink, 0, live_summary_text(live, answer, text, sizeof(text)));
    print_path(sink, live, answer);
    if (answer->samples)
        report_busy(sink, live, answer->steps[answer->step_count - 1].thread, answer->samples);
    print_stacks(sink, live, answer);
    report_goroutines(sink, live, answer);
    print_others(sink, live, thread, answer);
    print_uncertain(sink, live, answer);
    return NULL;
}

/* Why a process does not go on, as JSON: docs/schema/why.json. */
#include "report/json.h"
#include "report/live_busy.h"
#include "report/live_goroutine_list.h"
#include "report/live_words.h"
#include "report/report_live.h"

static void put_thread(json_t *object, const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = argus_live_thread_at(live, thread);
    const struct argus_live_process *process = argus_live_process_at(live, of->process);
    char state[2] = {of->state, '\0'};
    json_put(object, "process", json_text(process->name));
    json_put(object, "pid", json_integer(process->pid));
    json_put(object, "tid", json_integer(of->tid));
    json_put(object, "thread", json_text(of->name));
    json_put(object, "state", json_text(state));
    json_put(object, "title",
             process->title ? json_text(argus_live_text(live, process->title)) : json_null());
}

static json_t *wait_object(const struct argus_live *live, const struct argus_live_wait *wait)
{
    json_t *object = json_object();
    char text[LIVE_TEXT_BYTES];
    json_put(object, "kind", json_text(argus_live_kind_id(wait->kind)));
    json_put(object, "text", json_text(live_wait_text(live, wait, text, sizeof(text))));
    json_put(object, "write", json_boolean(wait->is_write));
    json_put(object, "timeout", json_boolean(wait->has_timeout));
    json_put(object, "fd", wait->fd == ARGUS_LIVE_NONE ? json_null() : json_integer(wait->fd));
    json_put(object, "object", json_integer((json_int_t)wait->object));
    json_put(object, "path",
             wait->text ? json_text(argus_live_text(live, wait->text)) : json_null());
    json_put(object, "holder_tid", wait->lost_owner ? json_integer(wait->lost_owner) : json_null());
    json_put(object, "device",
             wait->device ? json_text(argus_live_text(live, wait->device)) : json_null());
    json_put(object, "in_flight", json_integer(wait->in_flight));
    json_put(object, "unread_here", json_integer((json_int_t)wait->unread_here));
    json_put(object, "unread_there", json_integer((json_int_t)wait->unread_there));
    return object;
}

static void put_call(json_t *object, const struct argus_live_thread *thread)
{
    const char *name = argus_live_call_name(thread);
    json_t *arguments = json_array();
    for (int i = 0; name && i < 6; i++)
        json_add(arguments, json_integer((json_int_t)thread->arg[i]));
    json_put(object, "syscall", json_text(name));
    json_put(object, "arguments", arguments);
    json_put(object, "wchan", json_text(thread->wchan));
}

static json_t *stack_array(const struct argus_live *live, const struct argus_live_answer *answer,
                           const struct argus_live_step *step)
{
    json_t *array = json_array();
    char text[LIVE_TEXT_BYTES];
    for (uint32_t i = 0; i < step->frame_count; i++)
        json_add(array, json_text(live_frame_text(live, &answer->frames[step->first_frame + i],
                                                  text, sizeof(text))));
    return array;
}

static json_t *nested_loop(const struct argus_live *live, const struct argus_live_step *step)
{
    if (!step->nested_loop)
        return json_null();
    json_t *object = json_object();
    json_put(object, "function", json_text(argus_live_text(live, step->nested_loop)));
    json_put(object, "caller", json_text(argus_live_text(live, step->nested_caller)));
    return object;
}

static json_t *step_object(const struct argus_live *live, const struct argus_live_answer *answer,
                           size_t index)
{
    const struct argus_live_step *step = &answer->steps[index];
    json_t *object = json_object();
    char text[LIVE_TEXT_BYTES];
    put_thread(object, live, step->thread);
    json_put(object, "text", json_text(live_step_text(live, answer, index, text, sizeof(text))));
    json_put(object, "wait", wait_object(live, &step->wait));
    put_call(object, argus_live_thread_at(live, step->thread));
    json_put(object, "link", json_text(argus_live_link_id(step->link)));
    json_put(object, "guess", json_boolean(step->is_guess));
    json_put(object, "went_on", json_boolean(step->went_on));
    json_put(object, "nested_loop", nested_loop(live, step));
    json_put(object, "stack", stack_array(live, answer, step));
    json_put(object, "stack_complete", json_boolean(step->frame_count && !step->is_cut));
    return object;
}

static json_t *threads_array(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_process process =
        *argus_live_process_at(live, argus_live_thread_at(live, thread)->process);
    json_t *array = json_array();
    for (uint32_t i = 0; i < process.thread_count; i++) {
        const struct argus_live_wait wait = argus_live_wait_of(live, process.first_thread + i);
        json_t *object = json_object();
        put_thread(object, live, process.first_thread + i);
        json_put(object, "wait", wait_object(live, &wait));
        json_add(array, object);
    }
    return array;
}

static json_t *candidates_array(const struct argus_live *live,
                                const struct argus_live_answer *answer)
{
    json_t *array = json_array();
    for (size_t i = 0; i < answer->candidate_count; i++) {
        json_t *object = json_object();
        uint32_t client = answer->candidates[i].client;
        put_thread(object, live, answer->candidates[i].thread);
        json_put(object, "client_tid",
                 client == ARGUS_LIVE_NONE ? json_null()
                                           : json_integer(argus_live_thread_at(live, client)->tid));
        json_put(object, "link", json_text(argus_live_link_id(answer->candidates[i].link)));
        json_add(array, object);
    }
    return array;
}

static json_t *uncertain_array(const struct argus_live *live,
                               const struct argus_live_answer *answer)
{
    json_t *array = json_array();
    char text[LIVE_TEXT_BYTES];
    for (size_t i = 0; live_uncertain_text(live, answer, i, text, sizeof(text)); i++)
        json_add(array, json_text(text));
    return array;
}

json_t *json_live(struct argus_live *live, uint32_t thread, const struct argus_live_answer *answer,
                  const char *recording)
{
    json_t *object = json_object(), *path = json_array();
    char text[2 * LIVE_TEXT_BYTES];
    for (size_t i = 0; i < answer->step_count; i++)
        json_add(path, step_object(live, answer, i));
    json_put(object, "summary", json_text(live_summary_text(live, answer, text, sizeof(text))));
    json_put(object, "path", path);
    json_put(object, "end", json_text(argus_live_end_id(answer->end)));
    json_put(object, "circle",
             answer->circle == ARGUS_LIVE_NONE ? json_null() : json_integer(answer->circle));
    json_put(object, "candidates", candidates_array(live, answer));
    json_put(object, "samples",
             json_samples(live, answer->steps[answer->step_count - 1].thread, answer->samples));
    json_put(object, "loop", json_loop(live, &answer->loop));
    json_put(object, "goroutines", json_goroutines(live, answer));
    json_put(object, "goroutines_left_out", json_integer(answer->goroutines_left_out));
    json_put(object, "threads", threads_array(live, thread));
    json_put(object, "uncertain", uncertain_array(live, answer));
    json_put(object, "recording", recording ? json_loads(recording, 0, NULL) : json_null());
    return object;
}

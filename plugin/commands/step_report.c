#include "plugin/commands/step_report.h"

#include "plugin/json_output.h"

static const char *const end_names[] = {
    [ARGUS_STEP_END_NONE] = "none",     [ARGUS_STEP_END_MOST] = "max",
    [ARGUS_STEP_END_RETURN] = "return", [ARGUS_STEP_END_WAIT] = "wait",
    [ARGUS_STEP_END_TIME] = "time",     [ARGUS_STEP_END_EXIT] = "exit",
    [ARGUS_STEP_END_EXEC] = "exec",     [ARGUS_STEP_END_USER] = "user",
    [ARGUS_STEP_END_ERROR] = "error",
};

static struct argus_error *report_json(struct session *session, const struct step_outcome *outcome,
                                       const char *label, const char *path)
{
    json_t *json = json_object();
    json_object_set_new(json, "file", json_text(path));
    json_object_set_new(json, "pid", json_integer((json_int_t)outcome->about.pid));
    json_object_set_new(json, "tid", json_integer((json_int_t)outcome->about.tid));
    json_object_set_new(json, "thread", json_text(outcome->comm));
    json_object_set_new(json, "vertex",
                        outcome->about.vertex == ARGUS_NONE ? json_null()
                                                            : json_integer(outcome->about.vertex));
    json_object_set_new(json, "place", json_text(label));
    json_object_set_new(json, "steps", json_integer(outcome->steps));
    json_object_set_new(json, "calls", json_integer((json_int_t)outcome->calls));
    json_object_set_new(json, "stepped_over", json_integer((json_int_t)outcome->skips));
    json_object_set_new(json, "signals", json_integer((json_int_t)outcome->signals));
    json_object_set_new(json, "elapsed_ns", json_integer((json_int_t)outcome->elapsed_ns));
    json_object_set_new(json, "end", json_string(end_names[outcome->end]));
    json_object_set_new(json, "end_text", json_text(outcome->end_text));
    return json_output(session, "argus-step 1", json);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

struct argus_error *step_report(struct session *session, const struct step_outcome *outcome,
                                const char *label, const char *path, bool json)
{
    if (json)
        return report_json(session, outcome, label, path);
    session_printf(session, "stepped   thread %llu (%s) of process %llu, from %s\n",
                   (unsigned long long)outcome->about.tid, outcome->comm,
                   (unsigned long long)outcome->about.pid, label);
    session_printf(session,
                   "          %u instruction%s in %.3f s; %llu call%s, %llu into libraries stepped "
                   "over, %llu signal%s\n",
                   outcome->steps, plural(outcome->steps), (double)outcome->elapsed_ns / 1e9,
                   (unsigned long long)outcome->calls, plural(outcome->calls),
                   (unsigned long long)outcome->skips, (unsigned long long)outcome->signals,
                   plural(outcome->signals));
    if (outcome->about.engine == ARGUS_STEP_ENGINE_LLDB && outcome->elapsed_ns)
        session_printf(session, "          by LLDB, %.0f instructions a second\n",
                       outcome->steps * 1e9 / (double)outcome->elapsed_ns);
    session_printf(session, "ended     %s\n", outcome->end_text);
    session_printf(session, "written   %s\n", path);
    return NULL;
}

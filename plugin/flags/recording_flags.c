#include "plugin/flags/recording_flags.h"

#include "plugin/flags/flag_file.h"

static struct argus_error *plan_all(const struct flag_wishes *wishes, const char *path,
                                    struct recorder_options *ret)
{
    if (wishes->wishes.length > FLAG_PLANS)
        return argus_error_create(ARGUS_ERROR_USAGE, "%s: more than %d flags", path, FLAG_PLANS);
    ret->flag_count = (uint32_t)wishes->wishes.length;
    for (uint32_t i = 0; i < ret->flag_count; i++) {
        const struct flag_wish *wish = &wishes->wishes.data[i];
        struct argus_error *error = flag_wish_plan(wish, &ret->flags[i]);
        if (error)
            return argus_error_context(error, "%s, line %u", path, wish->line);
    }
    return NULL;
}

struct argus_error *recording_flags_choose(const struct arguments *arguments,
                                           struct recorder_options *ret)
{
    struct flag_wishes wishes = {0};
    const char *path = arguments_option(arguments, "flags");
    if (!path)
        return NULL;
    struct argus_error *error = flag_wishes_read(&wishes, path);
    if (!error)
        error = plan_all(&wishes, path, ret);
    flag_wishes_deinit(&wishes);
    return error;
}

void recording_flags_send(struct session *session, struct recorder_client *client,
                          const struct recorder_options *chosen)
{
    for (uint32_t i = 0; i < chosen->flag_count; i++) {
        uint32_t number;
        struct argus_error *error = recorder_flag_add(client, &chosen->flags[i], &number);
        if (error)
            session_warn(session, "%s is not watched: %s", chosen->flags[i].label, error->message);
        argus_error_destroy(error);
    }
}

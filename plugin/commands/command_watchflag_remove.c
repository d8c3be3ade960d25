/* Stops watching a data flag. */
#include "plugin/commands/recording_command.h"

#include "plugin/flags/flag_place.h"
#include "plugin/flags/flag_watch.h"

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    uint64_t number;
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error)
        error = flag_place_number("a flag's number", arguments_word(arguments, 0), &number);
    if (!error && number <= UINT32_MAX && flag_watch_remove(session, (uint32_t)number)) {
        session_note(session, "flag %u is not watched any more", (unsigned)number);
        return NULL;
    }
    if (!error && number > FLAG_NUMBERS)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no flag %llu",
                                   (unsigned long long)number);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    error = recorder_flag_remove(client, (uint32_t)number);
    recorder_close(client);
    if (!error)
        session_note(session, "flag %u is not watched any more", (unsigned)number);
    return error;
}

const struct command command_watchflag_remove = {
    .name = "watchflag remove",
    .arguments = "N",
    .missing = "N is missing: a number that argus watchflag list shows",
    .summary = "stop watching a variable",
    .details = "N is a number of 'argus watchflag list'. A flag of --flags is then\nno longer "
               "watched in any process.",
    .example = "argus watchflag remove 1",
    .run = run,
};

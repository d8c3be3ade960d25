#include "plugin/command.h"

const struct command *const *commands(void)
{
    static const struct command *const table[] = {
#define ARGUS_COMMAND(name) &command_##name,
#include "plugin/commands.def"
#undef ARGUS_COMMAND
        NULL,
    };
    return table;
}

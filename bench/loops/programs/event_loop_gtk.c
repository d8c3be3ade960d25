/* A GTK program that runs its main context by hand until a worker has set a variable. */
#include <gtk/gtk.h>

#include "loop_scaffold.h"

static volatile gboolean is_done;

void prepare(void)
{
    (void)gtk_get_major_version();
}

void ask(void)
{
    is_done = FALSE;
}

void finish_work(void)
{
    is_done = TRUE;
}

void wait_until_done(void)
{
    while (!is_done) {
        while (g_main_context_pending(NULL))
            g_main_context_iteration(NULL, FALSE);
        g_usleep(2000);
    }
}

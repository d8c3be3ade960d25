#include "server/hang_thread.h"

#include <poll.h>

#include "server/requests.h"

/* How often the thread checks whether it should end, and looks for hangs if that is due. */
#define NAP_MS 20

static void *look(void *context)
{
    struct hang_thread *looks = context;
    while (!looks->error && !atomic_load(&looks->over)) {
        looks->error = hangs_look(looks->server);
        poll(NULL, 0, NAP_MS);
    }
    return NULL;
}

void hang_thread_begin(struct hang_thread *looks, struct server *server)
{
    *looks = (struct hang_thread){.server = server};
    if (server->hangs)
        looks->runs = pthread_create(&looks->thread, NULL, look, looks) == 0;
}

struct argus_error *hang_thread_end(struct hang_thread *looks)
{
    if (!looks->runs)
        return NULL;
    atomic_store(&looks->over, true);
    pthread_join(looks->thread, NULL);
    return looks->error;
}

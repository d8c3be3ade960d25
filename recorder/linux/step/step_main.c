#include "linux/step/step_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "linux/step/stepper.h"

#define TICK_US 50000
#define NAME    "step-engine"

static void on_tick(int signal)
{
    (void)signal; /* the signal only has to interrupt waitpid() */
}

/* Ignores signals: only the front end ends the stepper, because it must release the stepped thread
 * first. */
static void prepare_process(char **argv)
{
    const struct sigaction tick = {.sa_handler = on_tick}, ignored = {.sa_handler = SIG_IGN};
    const struct itimerval interval = {{0, TICK_US}, {0, TICK_US}};
    static const int harmless[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
    setsid();
    /* Users type "pkill -9 argus", also with -f. It would kill the stepped process too
     * (stepper.h). */
    prctl(PR_SET_NAME, NAME);
    size_t room = (size_t)(argv[1] - argv[0]) + strlen(argv[1]);
    if (argv[1] > argv[0] && room > sizeof(NAME)) {
        memset(argv[0], 0, room);
        memcpy(argv[0], NAME, sizeof(NAME));
    }
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        sigaction(harmless[i], &ignored, NULL);
    sigaction(SIGALRM, &tick, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
}

/* For whom it steps. A user who may run this program by sudo may not thereby look into the
 * processes of root. Two sources name the user: sudo, and the kernel, which keeps the maker of the
 * request's pipe. The maker is another user where root runs sudo for that user. But with sudo's
 * log_input the maker is sudo, so a pipe of root's does not make a user root. */
static uid_t asked_by(uid_t starter)
{
    struct stat status;
    struct statfs system;
    bool is_pipe = fstatfs(STDIN_FILENO, &system) == 0 && system.f_type == PIPEFS_MAGIC &&
                   fstat(STDIN_FILENO, &status) == 0;
    return is_pipe && status.st_uid ? status.st_uid : starter;
}

static bool has_end(const char *text, size_t bytes)
{
    return memchr(text, '\0', bytes) != NULL;
}

/* The request comes from the user, and this process may be root. */
static bool is_possible(const struct step_request *request)
{
    return request->magic == STEP_MAGIC && request->version == STEP_VERSION && request->pid > 0 &&
           request->pid <= INT32_MAX && request->tid <= INT32_MAX && request->most_steps > 0 &&
           request->most_steps <= STEP_MOST_STEPS &&
           has_end(request->comm, sizeof(request->comm)) &&
           has_end(request->place.path, sizeof(request->place.path)) &&
           has_end(request->wait.path, sizeof(request->wait.path)) &&
           has_end(request->skip, sizeof(request->skip)) &&
           has_end(request->into, sizeof(request->into)) &&
           (!(request->flags & STEP_FROM_ANYWHERE) || request->tid);
}

static bool read_request(struct step_request *ret)
{
    size_t done = 0;
    while (done < sizeof(*ret)) {
        ssize_t got = read(STDIN_FILENO, (char *)ret + done, sizeof(*ret) - done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return is_possible(ret);
}

static void say_error(struct step_output *output, const struct argus_error *error)
{
    const struct step_item_error item = {.code = error->code};
    step_output_put(output, STEP_ITEM_ERROR, &item, sizeof(item), error->message,
                    strlen(error->message));
    step_output_flush(output);
}

static void stepper_deinit(struct stepper *stepper)
{
    if (stepper->memory_fd >= 0)
        close(stepper->memory_fd);
    vec_deinit(&stepper->tracees);
    vec_deinit(&stepper->calls);
    step_maps_deinit(&stepper->maps);
    step_pages_deinit(stepper);
}

int step_main(char **argv, uid_t starter)
{
    static struct step_output output = {.fd = STDOUT_FILENO};
    static struct step_request request;
    prepare_process(argv);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    if (!read_request(&request)) {
        fputs("argus-recorder step: no request\n", stderr);
        return 2;
    }
    struct stepper stepper = {.request = &request,
                              .output = &output,
                              .uid = asked_by(starter),
                              .control_fd = STDIN_FILENO,
                              .memory_fd = -1,
                              .last_page = UINT32_MAX,
                              .maps = {.pid = request.pid, .request = &request}};
    struct argus_error *error = step_arrive(&stepper);
    if (!error)
        step_run(&stepper);
    else
        say_error(&output, error);
    stepper_deinit(&stepper);
    int code = error ? 1 : 0;
    argus_error_destroy(error);
    return code;
}

/* Preloaded into a program under qemu-user, which has its own threads: hides these in
 * /proc/self/task, so that the hooks' runtime sees the same threads as on real hardware. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static DIR *(*next_opendir)(const char *);
static struct dirent *(*next_readdir)(DIR *);
static long hidden[16];
static size_t hidden_count;
static bool looked;
static DIR *tasks;

/* While the program has one thread, all others are the emulator's. */
__attribute__((constructor)) static void look(void)
{
    if (looked)
        return;
    looked = true;
    next_opendir = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    next_readdir = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    DIR *directory = next_opendir("/proc/self/task");
    for (struct dirent *entry; directory && (entry = next_readdir(directory)) != NULL;) {
        long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != gettid() && hidden_count < sizeof(hidden) / sizeof(*hidden))
            hidden[hidden_count++] = tid;
    }
    if (directory)
        closedir(directory);
}

static bool is_hidden(const char *name)
{
    long tid = strtol(name, NULL, 10);
    for (size_t i = 0; i < hidden_count; i++)
        if (hidden[i] == tid)
            return true;
    return false;
}

DIR *opendir(const char *path)
{
    look();
    DIR *directory = next_opendir(path);
    if (strcmp(path, "/proc/self/task") == 0)
        tasks = directory;
    return directory;
}

struct dirent *readdir(DIR *directory)
{
    struct dirent *entry;
    look();
    do
        entry = next_readdir(directory);
    while (entry && directory == tasks && is_hidden(entry->d_name));
    return entry;
}

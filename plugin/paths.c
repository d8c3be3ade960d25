#include "plugin/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_path.h"

/* Newest first: if several are installed, the newest supports the most debug formats. */
static const char *const lldb_names[] = {
    "lldb",    "lldb-22", "lldb-21", "lldb-20", "lldb-19", "lldb-18",
    "lldb-17", "lldb-16", "lldb-15", "lldb-14", NULL,
};

/* Finds the executable file `name` in PATH; NULL if there is none. */
static char *find_in_path(const char *name)
{
    const char *directory = getenv("PATH");
    while (directory && *directory) {
        int length = (int)strcspn(directory, ":");
        char *path;
        if (asprintf(&path, "%.*s/%s", length, directory, name) < 0)
            return NULL;
        if (length && access(path, X_OK) == 0)
            return path;
        free(path);
        directory += length;
        directory += *directory == ':';
    }
    return NULL;
}

static struct argus_error *find_named_lldb(const char *name, char **ret)
{
    *ret = strchr(name, '/') ? strdup(name) : find_in_path(name);
    if (*ret && access(*ret, X_OK) == 0)
        return NULL;
    free(*ret);
    *ret = NULL;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "$ARGUS_LLDB names '%s', which is not an executable program", name);
}

struct argus_error *paths_find_lldb(char **ret)
{
    const char *wanted = getenv("ARGUS_LLDB");
    if (wanted && *wanted)
        return find_named_lldb(wanted, ret);
    for (const char *const *name = lldb_names; *name; name++)
        if ((*ret = find_in_path(*name)))
            return NULL;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "there is no lldb in PATH (Debian, Ubuntu: apt-get install lldb); "
                              "'argus diagnose FILE' works without it");
}

/* The directory of this program, without a slash at its end; false if the system does not tell. */
static bool own_directory(char *ret, size_t bytes)
{
    if (!own_path(ret, bytes))
        return false;
    char *slash = strrchr(ret, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Relative to the program's directory, in search order. */
static const char *const plugin_places[] = {
    "../lib/libargus" ARGUS_PLUGIN_SUFFIX,
    "../" ARGUS_PLUGIN_SUBDIR "/libargus" ARGUS_PLUGIN_SUFFIX,
    "../lib/argus/libargus" ARGUS_PLUGIN_SUFFIX,
    NULL,
};

struct argus_error *paths_find_plugin(char **ret)
{
    char directory[PATH_MAX];
    const char *wanted = getenv("ARGUS_PLUGIN");
    if (wanted && *wanted) {
        *ret = realpath(wanted, NULL);
        return *ret ? NULL
                    : argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                         "$ARGUS_PLUGIN names '%s', which does not exist", wanted);
    }
    bool known = own_directory(directory, sizeof(directory));
    for (const char *const *place = plugin_places; known && *place; place++) {
        char *path;
        if (asprintf(&path, "%s/%s", directory, *place) < 0)
            return argus_error_memory();
        *ret = realpath(path, NULL);
        free(path);
        if (*ret)
            return NULL;
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the LLDB plugin libargus" ARGUS_PLUGIN_SUFFIX
                              " was not found next to this program; set ARGUS_PLUGIN to its path");
}

struct argus_error *paths_find_probes(char **ret)
{
    char directory[PATH_MAX];
    const char *wanted = getenv("ARGUS_PROBES");
    *ret = NULL;
    if (wanted && *wanted) {
        *ret = strdup(wanted);
        return *ret ? NULL : argus_error_memory();
    }
    if (!own_directory(directory, sizeof(directory)) ||
        asprintf(ret, "%s/../share/argus/probes.conf", directory) < 0) {
        *ret = NULL;
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "cannot find out in which folder this program is");
    }
    return NULL;
}

char *paths_expand_home(const char *path)
{
    const char *home = getenv("HOME");
    char *expanded;
    if (strncmp(path, "~/", 2) != 0 || !home)
        return strdup(path);
    return asprintf(&expanded, "%s%s", home, path + 1) < 0 ? NULL : expanded;
}

/* $VARIABLE/argus if that is an absolute path, else ~/USUAL/argus. */
static char *xdg_directory(const char *variable, const char *usual)
{
    const char *named = getenv(variable), *home = getenv("HOME");
    char *directory = NULL;
    bool made = named && named[0] == '/' ? asprintf(&directory, "%s/argus", named) >= 0
                : home && home[0] == '/' ? asprintf(&directory, "%s/%s/argus", home, usual) >= 0
                                         : false;
    return made ? directory : NULL;
}

char *paths_cache_directory(void)
{
    return xdg_directory("XDG_CACHE_HOME", ".cache");
}

char *paths_data_directory(void)
{
    return xdg_directory("XDG_DATA_HOME", ".local/share");
}

/* The programs that are installed with the shared object that this code is in: the library, or the
 * plugin. Their host is another program, and may be anywhere. In a program, dladdr() tells its
 * argv[0], which may be relative to a folder that is no longer the current one. */
static char *beside_library(const char *name)
{
    static const char *const places[] = {"../bin", "../../bin"};
    Dl_info object;
    bool known = dladdr(places, &object) && object.dli_fname && object.dli_fname[0] == '/';
    const char *slash = known ? strrchr(object.dli_fname, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
        char *path;
        if (asprintf(&path, "%.*s/%s/%s", (int)(slash - object.dli_fname), object.dli_fname,
                     places[i], name) < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

char *paths_find_importer(void)
{
    char directory[PATH_MAX], *path;
    const char *wanted = getenv("ARGUS_IMPORT");
    if (wanted && *wanted)
        return strdup(wanted);
    if ((path = beside_library("argus-import")))
        return path;
    if (own_directory(directory, sizeof(directory)) &&
        asprintf(&path, "%s/argus-import", directory) >= 0) {
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return find_in_path("argus-import");
}

void paths_make_directories(const char *path)
{
    char *part = strdup(path);
    if (!part)
        return;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    free(part);
}

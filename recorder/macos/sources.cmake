# The backend of macOS: kdebug, through an interface (kdebug_os.h) that the tests simulate on Linux.
target_sources(argus_recorder PRIVATE)

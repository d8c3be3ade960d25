# The backend of macOS: kdebug, through an interface (kdebug_os.h) behind which the tests have a kernel of their own.
target_sources(argus_recorder PRIVATE
  macos/darwin_os.c
  macos/kdebug_answers.c
  macos/kdebug_backend.c
  macos/kdebug_filter.c
  macos/kdebug_images.c
  macos/kdebug_pollers.c
  macos/kdebug_session.c
  macos/kdebug_times.c
  macos/kperf.c
  macos/probe_guard_absent.c
  macos/process_facts.c
  macos/step_absent.c
  macos/threads_of_kdebug.c
  macos/voucher_contents.c)

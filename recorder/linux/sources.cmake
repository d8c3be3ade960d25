# The backends of Linux: BPF programs, and perf_event where those cannot be.
include(linux/bpf/programs.cmake)

target_sources(argus_recorder PRIVATE
  linux/bpf_backend.c
  linux/cpu_overload.c
  linux/cpu_watch.c
  linux/display_sockets.c
  linux/epoll_sets.c
  linux/flags/flag_check.c
  linux/flags/flag_memory.c
  linux/flags/flag_plans.c
  linux/flags/flag_threads.c
  linux/flags/flags.c
  linux/held_locks.c
  linux/host_header.c
  linux/image_events.c
  linux/image_maps.c
  linux/interpreter_frames.c
  linux/kallsyms.c
  linux/load/bpf_object.c
  linux/load/compat_calls.c
  linux/load/kernel_btf.c
  linux/load/program_load.c
  linux/load/program_table.c
  linux/load/programs.c
  linux/load/syscall_bitmaps.c
  linux/mapped_images.c
  linux/online_cpus.c
  linux/open_ends.c
  linux/perf/event_format.c
  linux/perf/own_timer.c
  linux/perf/perf_backend.c
  linux/perf/perf_events.c
  linux/perf/perf_on_machine.c
  linux/perf/perf_on_thread.c
  linux/perf/perf_rows.c
  linux/perf/perf_translate.c
  linux/perf/seen_threads.c
  linux/perf/self_tracepoint.c
  linux/perf/stack_table.c
  linux/pid_namespace.c
  linux/poll_set_ready.c
  linux/pollers.c
  linux/probe_rates.c
  linux/probes.c
  linux/proc_stat.c
  linux/process_fds.c
  linux/rings.c
  linux/shared_mappings.c
  linux/snapshot_store.c
  linux/snapshots.c
  linux/step/step_arrive.c
  linux/step/step_attach.c
  linux/step/step_breakpoint.c
  linux/step/step_check.c
  linux/step/step_code.c
  linux/step/step_inside.c
  linux/step/step_instruction.c
  linux/step/step_loop.c
  linux/step/step_main.c
  linux/step/step_maps.c
  linux/step/step_move.c
  linux/step/step_output.c
  linux/step/step_release.c
  linux/step/step_settle.c
  linux/step/step_thread.c
  linux/step/step_wait.c
  linux/thread_map.c
  linux/threads.c
  linux/tracefs.c
  linux/waiting.c
  linux/windows.c)
target_link_libraries(argus_recorder PUBLIC PkgConfig::LIBBPF)
set_source_files_properties(linux/load/bpf_object.c PROPERTIES
  COMPILE_DEFINITIONS "ARGUS_BPF_CASTS=\"${bpf_casts}\";ARGUS_BPF_PLAIN=\"${bpf_plain}\";ARGUS_BPF_COMPILER=\"${bpf_compiler}\""
  OBJECT_DEPENDS "${bpf_casts};${bpf_plain}")

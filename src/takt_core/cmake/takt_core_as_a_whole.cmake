# SPDX-License-Identifier: Apache-2.0
# What is compiled together beside the set-up: half of the compile time. Files that give the same name
# to something of their own are in different groups, or in none.

# together(GROUP FOLDER FILES...): without src/ and .cpp.
function(together group folder)
  list(TRANSFORM ARGN PREPEND "src/${folder}/" OUTPUT_VARIABLE sources)
  list(TRANSFORM sources APPEND ".cpp")
  takt_compile_together(takt_core ${group} ${sources})
endfunction()

# What jobs pass through. Most of its functions are shorter than a call: as one file it takes a third
# fewer instructions (Crew::run() is compiled with all that it calls).
if(NOT TAKT_SANITIZE)
  takt_compile_together(takt_core jobs
    src/executor/crew.cpp
    src/executor/crew_alarms.cpp
    src/executor/crew_news.cpp
    src/executor/crew_sleeps.cpp
    src/executor/note.cpp
    src/executor/release_handle.cpp
    src/executor/run_job.cpp
    src/sched/compiled.cpp
    src/sched/core_state.cpp
    src/sched/fixed_priority.cpp
    src/sched/ready_queue.cpp
    src/sched/releases.cpp
    src/trace/current.cpp)
  together(executor_apart executor
    crew_locks fifo_mutex lock report watched watched_job)
  together(sched_apart sched
    age_requests core_state_boost core_state_follow core_state_locks core_state_threads custom
    cw_edf data_age edf order_check policy precautious_rm srp stock_executor)
else()
  together(executor_jobs executor
    crew crew_alarms crew_locks crew_news crew_sleeps lock note release_handle report run_job
    watched)
  together(sched_jobs sched
    age_requests core_state core_state_boost core_state_follow core_state_locks core_state_threads
    custom cw_edf data_age edf fixed_priority order_check policy precautious_rm ready_queue
    releases srp stock_executor)
endif()
together(trace_read trace
  declared flows orders reader timeline)
together(application_checks application
  application bands callback_groups check_locks compile lock_plan own_subscriptions parse_joins)
together(application_parse application
  parse parse_cores parse_execution parse_lanes parse_locks parse_processes parse_publications
  parse_segments)
together(application_robots application
  chain_calls devices parse_services requests robot robot_cores threads)
together(analysis_demand analysis
  acceptance analyse assumptions batch boosting busy_core by_simulation certainty core demand
  demand_curve due_sweep)
together(analysis_edf analysis
  edf edf_blocking edf_response graph_ancestry graph_remarks level_sweep lock_blocking methods
  one_scenario proposals sensitivity schedule_graph)
together(analysis_suspension analysis
  robot robot_ages robot_services robot_words paths_losses segment_work suspension
  suspension_choice suspension_intervals switches)
together(analysis_scenarios analysis
  robot_effects robot_gaps paths scenario_busy scenario_costs scenario_deliveries scenario_graph scenario_interrupts
  scenario_lanes scenario_model sensitivity_rounds)
together(analysis_rounds analysis
  paths_joined_ages robot_chains robot_sensitivity scenario_rounds scenario_services
  prepared_sweep subchain_deadline subchain_others subchain_parts subchain_priority
  subchain_returns supply)
together(analysis_threads analysis
  next_start paths_busy robot_proposals scenario_streams threads)
together(sim sim
  duration metrics model offsets partition partition_data partition_locks partition_threads
  partition_waits trace)
together(sim_runs sim
  partition_releases simulation withheld)
together(analysis_chains analysis
  chain_pace chain_paths fixed_priority path_work paths_ages paths_calls)
together(analysis_joins analysis
  paths_joins scenario_chains scenario_joins wait_set)

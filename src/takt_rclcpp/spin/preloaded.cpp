// SPDX-License-Identifier: Apache-2.0
//
// Stands before rclcpp in a process: the functions of its executors that matter, by their own
// names. The dynamic linker finds these first, for calls of the program, for rclcpp's own (unless
// it was linked with -Bsymbolic) and for the entries of the classes' virtual tables.
#include "all_executors.hpp"
#include "opened.hpp"
#include "takeover.hpp"

namespace takt_rclcpp::spin {
namespace {

using rclcpp::Executor;
using Handler = std::function<void(const std::exception&)>;

void spin(Executor* executor, const Takeover::Spin& how, const Next<void(Executor*)>& next) {
  if (Takeover* const other = takeover(next.address())) {
    other->spin(*executor, how, [&] { next(executor); });
  } else {
    next(executor);
  }
}

}  // namespace
}  // namespace takt_rclcpp::spin

// NOLINTBEGIN(performance-unnecessary-value-param): rclcpp's signatures
namespace rclcpp {

using takt_rclcpp::GroupArgument;
using takt_rclcpp::Groups;
using takt_rclcpp::NodeArgument;
using takt_rclcpp::Takeover;
using takt_rclcpp::spin::Next;
using takt_rclcpp::spin::takeover;

#if RCLCPP_VERSION_GTE(32, 0, 0)
#define TAKT_NODE "RKSt10shared_ptrINS_15node_interfaces17NodeBaseInterfaceEE"
#define TAKT_GROUP "RKSt10shared_ptrINS_13CallbackGroupEE"
#else
#define TAKT_NODE "St10shared_ptrINS_15node_interfaces17NodeBaseInterfaceEE"
#define TAKT_GROUP "St10shared_ptrINS_13CallbackGroupEE"
#endif

// What classes with nodes of their own share, with each name behind `mangled`.
#define TAKT_STANDS_BEFORE(Class, mangled, groups_mangled)                                         \
  void Class::add_node(NodeArgument node, bool notify) {                                           \
    static const Next<void(Class*, NodeArgument, bool)> next{mangled "8add_nodeE" TAKT_NODE "b"};  \
    Takeover* const other = takeover(next.address());                                              \
    other ? other->add_node(*this, node, notify, [&] { next(this, node, notify); })                \
          : next(this, node, notify);                                                              \
  }                                                                                                \
  void Class::remove_node(NodeArgument node, bool notify) {                                        \
    static const Next<void(Class*, NodeArgument, bool)> next{mangled "11remove_nodeE" TAKT_NODE    \
                                                                     "b"};                         \
    Takeover* const other = takeover(next.address());                                              \
    other ? other->remove_node(*this, node, notify, [&] { next(this, node, notify); })             \
          : next(this, node, notify);                                                              \
  }                                                                                                \
  void Class::add_callback_group(GroupArgument group, NodeArgument node, bool notify) {            \
    static const Next<void(Class*, GroupArgument, NodeArgument, bool)> next{                       \
        mangled "18add_callback_groupE" groups_mangled "b"};                                       \
    Takeover* const other = takeover(next.address());                                              \
    other ? other->add_group(*this, group, node, notify, [&] { next(this, group, node, notify); }) \
          : next(this, group, node, notify);                                                       \
  }                                                                                                \
  void Class::remove_callback_group(GroupArgument group, bool notify) {                            \
    static const Next<void(Class*, GroupArgument, bool)> next{                                     \
        mangled "21remove_callback_groupE" TAKT_GROUP "b"};                                        \
    Takeover* const other = takeover(next.address());                                              \
    other ? other->remove_group(*this, group, notify, [&] { next(this, group, notify); })          \
          : next(this, group, notify);                                                             \
  }                                                                                                \
  Groups Class::get_all_callback_groups() {                                                        \
    static const Next<Groups(Class*)> next{mangled "23get_all_callback_groupsEv"};                 \
    Takeover* const other = takeover(next.address());                                              \
    return other ? other->groups(*this, &Executor::get_all_callback_groups,                        \
                                 [&] { return next(this); })                                       \
                 : next(this);                                                                     \
  }                                                                                                \
  Groups Class::get_manually_added_callback_groups() {                                             \
    static const Next<Groups(Class*)> next{mangled "34get_manually_added_callback_groupsEv"};      \
    Takeover* const other = takeover(next.address());                                              \
    return other ? other->groups(*this, &Executor::get_manually_added_callback_groups,             \
                                 [&] { return next(this); })                                       \
                 : next(this);                                                                     \
  }                                                                                                \
  Groups Class::get_automatically_added_callback_groups_from_nodes() {                             \
    static const Next<Groups(Class*)> next{                                                        \
        mangled "50get_automatically_added_callback_groups_from_nodesEv"};                         \
    Takeover* const other = takeover(next.address());                                              \
    return other ? other->groups(*this,                                                            \
                                 &Executor::get_automatically_added_callback_groups_from_nodes,    \
                                 [&] { return next(this); })                                       \
                 : next(this);                                                                     \
  }

#define TAKT_CANCELS(Class, mangled)                                \
  void Class::cancel() {                                            \
    static const Next<void(Class*)> next{mangled "6cancelEv"};      \
    Takeover* const other = takeover(next.address());               \
    other ? other->cancel(*this, [&] { next(this); }) : next(this); \
  }

#if RCLCPP_VERSION_GTE(32, 0, 0)
TAKT_STANDS_BEFORE(Executor, "_ZN6rclcpp8Executor",
                   "RKSt10shared_ptrINS_13CallbackGroupEERKS1_INS_15node_interfaces"
                   "17NodeBaseInterfaceEE")
#else
TAKT_STANDS_BEFORE(Executor, "_ZN6rclcpp8Executor",
                   TAKT_GROUP "S1_INS_15node_interfaces17NodeBaseInterfaceEE")
#endif

TAKT_CANCELS(Executor, "_ZN6rclcpp8Executor")

// Loops of these keep rclcpp's order, which is said.
#define TAKT_STAYS(Class, mangled, name, mangled_name)                               \
  void Class::name(std::chrono::nanoseconds time) {                                  \
    static const Next<void(Class*, std::chrono::nanoseconds)> next{                  \
        mangled mangled_name "ENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE"}; \
    if (Takeover* const other = takeover(next.address())) {                          \
      other->stays(*this, #name);                                                    \
    }                                                                                \
    next(this, time);                                                                \
  }
TAKT_STAYS(Executor, "_ZN6rclcpp8Executor", spin_some, "9spin_some")
TAKT_STAYS(Executor, "_ZN6rclcpp8Executor", spin_all, "8spin_all")
TAKT_STAYS(Executor, "_ZN6rclcpp8Executor", spin_once, "9spin_once")

// Of these the nodes are with Takt's executor from the beginning.
#define TAKT_POLLS(Class, mangled, name, mangled_name)                                             \
  void Class::name(std::chrono::nanoseconds time) {                                                \
    static const Next<void(Class*, std::chrono::nanoseconds)> next{                                \
        mangled mangled_name "ENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE"};               \
    Takeover* const other = takeover(next.address());                                              \
    other                                                                                          \
        ? other->poll(                                                                             \
              *this, #name, [&](Executor& there) { there.name(time); }, [&] { next(this, time); }) \
        : next(this, time);                                                                        \
  }

namespace executors {

#if defined(TAKT_HAS_CBG_EXECUTOR) && RCLCPP_VERSION_GTE(32, 0, 0)
TAKT_STANDS_BEFORE(EventsCBGExecutor, "_ZN6rclcpp9executors17EventsCBGExecutor",
                   "RKSt10shared_ptrINS_13CallbackGroupEERKS2_INS_15node_interfaces"
                   "17NodeBaseInterfaceEE")
#elif defined(TAKT_HAS_CBG_EXECUTOR)
TAKT_STANDS_BEFORE(EventsCBGExecutor, "_ZN6rclcpp9executors17EventsCBGExecutor",
                   TAKT_GROUP "S2_INS_15node_interfaces17NodeBaseInterfaceEE")
#endif
#ifdef TAKT_HAS_CBG_EXECUTOR
TAKT_CANCELS(EventsCBGExecutor, "_ZN6rclcpp9executors17EventsCBGExecutor")
#endif

void SingleThreadedExecutor::spin() {
  static const Next<void(Executor*)> next{"_ZN6rclcpp9executors22SingleThreadedExecutor4spinEv"};
  takt_rclcpp::spin::spin(this, {.executor = "SingleThreadedExecutor"}, next);
}

void MultiThreadedExecutor::spin() {
  static const Next<void(Executor*)> next{"_ZN6rclcpp9executors21MultiThreadedExecutor4spinEv"};
  takt_rclcpp::spin::spin(
      this, {.executor = "MultiThreadedExecutor", .threads = number_of_threads_}, next);
}

void MultiThreadedExecutor::run(std::size_t thread) {
  static const Next<void(MultiThreadedExecutor*, std::size_t)> next{
      "_ZN6rclcpp9executors21MultiThreadedExecutor3runEm"};
  Takeover* const other = takeover(next.address());
  other ? other->run(*this, "MultiThreadedExecutor", [&] { next(this, thread); })
        : next(this, thread);
}

#ifdef TAKT_HAS_CBG_EXECUTOR
void EventsCBGExecutor::spin() {
  static const Next<void(Executor*)> next{"_ZN6rclcpp9executors17EventsCBGExecutor4spinEv"};
  takt_rclcpp::spin::spin(this, {.executor = "EventsCBGExecutor", .threads = number_of_threads_},
                          next);
}

void EventsCBGExecutor::spin(const std::function<void(const std::exception&)>& handler) {
  static const Next<void(EventsCBGExecutor*, const std::function<void(const std::exception&)>&)>
      next{"_ZN6rclcpp9executors17EventsCBGExecutor4spinERKSt8functionIFvRKSt9exceptionEE"};
  Takeover* const other = takeover(next.address());
  other ? other->spin(
              *this,
              {.executor = "EventsCBGExecutor", .threads = number_of_threads_, .handler = &handler},
              [&] { next(this, handler); })
        : next(this, handler);
}

TAKT_POLLS(EventsCBGExecutor, "_ZN6rclcpp9executors17EventsCBGExecutor", spin_some, "9spin_some")
TAKT_POLLS(EventsCBGExecutor, "_ZN6rclcpp9executors17EventsCBGExecutor", spin_all, "8spin_all")

void EventsCBGExecutor::run(std::size_t thread, bool block) {
  static const Next<void(EventsCBGExecutor*, std::size_t, bool)> next{
      "_ZN6rclcpp9executors17EventsCBGExecutor3runEmb"};
  Takeover* const other = takeover(next.address());
  other ? other->run(*this, "EventsCBGExecutor", [&] { next(this, thread, block); })
        : next(this, thread, block);
}
#endif

#ifdef TAKT_HAS_STATIC_EXECUTOR
void StaticSingleThreadedExecutor::spin() {
  static const Next<void(Executor*)> next{
      "_ZN6rclcpp9executors28StaticSingleThreadedExecutor4spinEv"};
  takt_rclcpp::spin::spin(this, {.executor = "StaticSingleThreadedExecutor"}, next);
}
#endif

}  // namespace executors

namespace experimental::executors {

#if !RCLCPP_VERSION_GTE(29, 0, 0)  // later ones leave nodes to the base class
TAKT_STANDS_BEFORE(EventsExecutor, "_ZN6rclcpp12experimental9executors14EventsExecutor",
                   TAKT_GROUP "S3_INS_15node_interfaces17NodeBaseInterfaceEE")
#endif
TAKT_POLLS(EventsExecutor, "_ZN6rclcpp12experimental9executors14EventsExecutor", spin_some,
           "9spin_some")
TAKT_POLLS(EventsExecutor, "_ZN6rclcpp12experimental9executors14EventsExecutor", spin_all,
           "8spin_all")

void EventsExecutor::spin() {
  static const Next<void(Executor*)> next{
      "_ZN6rclcpp12experimental9executors14EventsExecutor4spinEv"};
  takt_rclcpp::spin::spin(this, {.executor = "EventsExecutor"}, next);
}

}  // namespace experimental::executors
}  // namespace rclcpp
// NOLINTEND(performance-unnecessary-value-param)

// The destructor of every executor, called by those of the classes below it. As a function: what
// C++ writes of a destructor would take the base class to pieces here.
extern "C" __attribute__((visibility("default"))) void _ZN6rclcpp8ExecutorD2Ev(
    rclcpp::Executor* executor) {
  static const takt_rclcpp::spin::Next<void(rclcpp::Executor*)> next{"_ZN6rclcpp8ExecutorD2Ev"};
  if (takt_rclcpp::Takeover* const other = takt_rclcpp::spin::takeover(next.address())) {
    other->forget(*executor);
  }
  next(executor);
}

// Not among the functions that rclcpp marks to be seen, and seen all the same.
namespace takt_rclcpp::spin {
namespace {

using SpinOnce = void(rclcpp::Executor*, std::chrono::nanoseconds);

// Of spin_once(), of which is said elsewhere, and where something waits for a future.
void spin_once(rclcpp::Executor* executor, std::chrono::nanoseconds time,
               const Next<SpinOnce>& next) {
  if (Takeover* const other = takeover(next.address())) {
    other->poll(
        *executor, nullptr, [&](rclcpp::Executor& there) { there.spin_once(time); },
        [&] { next(executor, time); });
  } else {
    next(executor, time);
  }
}

}  // namespace
}  // namespace takt_rclcpp::spin

#define TAKT_SPIN_ONCE(name)                                                                   \
  extern "C" __attribute__((visibility("default"))) void name(rclcpp::Executor* executor,      \
                                                              std::chrono::nanoseconds time) { \
    static const takt_rclcpp::spin::Next<takt_rclcpp::spin::SpinOnce> next{#name};             \
    takt_rclcpp::spin::spin_once(executor, time, next);                                        \
  }
// clang-format off
TAKT_SPIN_ONCE(_ZN6rclcpp12experimental9executors14EventsExecutor14spin_once_implENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE)
#ifdef TAKT_HAS_CBG_EXECUTOR
TAKT_SPIN_ONCE(_ZN6rclcpp9executors17EventsCBGExecutor9spin_onceENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE)
TAKT_SPIN_ONCE(_ZN6rclcpp9executors17EventsCBGExecutor18spin_once_internalENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE)
#endif
// clang-format on

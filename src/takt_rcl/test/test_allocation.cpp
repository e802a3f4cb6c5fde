// SPDX-License-Identifier: Apache-2.0
//
// What the calling thread allocates while it publishes and takes. Every middleware has its own
// (small) number; what must hold is that this library adds nothing to it. So the same calls are
// made through takt_rcl and directly on rcl, and counted by replacing malloc and its relatives
// (glibc) for the whole process.
#include <gtest/gtest.h>
#include <rcl/rcl.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>

#include "executor_support.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {
thread_local std::size_t allocations = 0;
}

extern "C" {
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using Small = takt_interfaces::msg::SampleFixed64B;

constexpr int warm_up = 100;  // fills the pools of the middleware
constexpr int repetitions = 100;

struct Counts {
  std::size_t publish{0};
  std::size_t take{0};
  std::size_t empty_take{0};

  friend bool operator==(const Counts&, const Counts&) = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << repetitions << " times: publish " << counts.publish << ", take " << counts.take
       << ", empty take " << counts.empty_take;
}

template <class Function>
std::size_t allocations_of(Function function) {
  const std::size_t before = allocations;
  function();
  return allocations - before;
}

template <class Publish, class Take>
Counts count(Publish publish, Take take) {
  Counts counts;
  for (int i = 0; i < warm_up + repetitions; ++i) {
    if (i == warm_up) counts = {};
    bool published = false;
    bool taken = false;
    bool taken_again = true;
    counts.publish += allocations_of([&] { published = publish(); });
    counts.take += allocations_of([&] { taken = take(); });
    counts.empty_take += allocations_of([&] { taken_again = take(); });
    EXPECT_TRUE(published && taken && !taken_again);
  }
  return counts;
}

// The same publisher and subscription, with nothing between the test and rcl.
class Direct {
 public:
  explicit Direct(const std::string& topic) {
    auto options = rcl_get_zero_initialized_init_options();
    EXPECT_EQ(rcl_init_options_init(&options, rcl_get_default_allocator()), RCL_RET_OK);
    EXPECT_EQ(rcl_init(0, nullptr, &options, &context_), RCL_RET_OK);
    EXPECT_EQ(rcl_init_options_fini(&options), RCL_RET_OK);
    const auto node_options = rcl_node_get_default_options();
    EXPECT_EQ(rcl_node_init(&node_, "direct", "", &context_, &node_options), RCL_RET_OK);
    const auto* type = rosidl_typesupport_cpp::get_message_type_support_handle<Sample>();
    const auto out_options = rcl_publisher_get_default_options();
    const auto in_options = rcl_subscription_get_default_options();
    EXPECT_EQ(rcl_publisher_init(&out_, &node_, type, topic.c_str(), &out_options), RCL_RET_OK);
    EXPECT_EQ(rcl_subscription_init(&in_, &node_, type, topic.c_str(), &in_options), RCL_RET_OK);
  }
  ~Direct() {
    EXPECT_EQ(rcl_publisher_fini(&out_, &node_), RCL_RET_OK);
    EXPECT_EQ(rcl_subscription_fini(&in_, &node_), RCL_RET_OK);
    EXPECT_EQ(rcl_node_fini(&node_), RCL_RET_OK);
    EXPECT_EQ(rcl_shutdown(&context_), RCL_RET_OK);
    EXPECT_EQ(rcl_context_fini(&context_), RCL_RET_OK);
  }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;

  bool connected() {
    std::size_t count = 0;
    return rcl_publisher_get_subscription_count(&out_, &count) == RCL_RET_OK && count == 1;
  }
  bool publish(const Sample& sample) { return rcl_publish(&out_, &sample, nullptr) == RCL_RET_OK; }
  bool take(Sample& sample) {
    auto info = rmw_get_zero_initialized_message_info();
    return rcl_take(&in_, &sample, &info, nullptr) == RCL_RET_OK;
  }

 private:
  rcl_context_t context_{rcl_get_zero_initialized_context()};
  rcl_node_t node_{rcl_get_zero_initialized_node()};
  rcl_publisher_t out_{rcl_get_zero_initialized_publisher()};
  rcl_subscription_t in_{rcl_get_zero_initialized_subscription()};
};

Counts count_direct(std::size_t payload_bytes) {
  Direct direct{unique_topic("direct")};
  EXPECT_TRUE(eventually([&] { return direct.connected(); }));
  Sample sent;
  sent.payload.resize(payload_bytes);
  Sample got;
  return count([&] { return direct.publish(sent); }, [&] { return direct.take(got); });
}

Counts count_takt(std::size_t payload_bytes) {
  const Link<Sample> link{"takt", QoS{10}};
  EXPECT_TRUE(link.connect());
  Sample sent;
  sent.payload.resize(payload_bytes);
  Sample got;
  MessageInfo info;
  return count([&] { return static_cast<bool>(link.out->publish(sent)); },
               [&] { return static_cast<bool>(link.in->take(got, info)); });
}

TEST(Allocation, is_counted_here_and_in_libraries) {
  EXPECT_EQ(allocations_of([] {
              void* volatile memory = std::malloc(1);
              std::free(memory);
            }),
            1U);
  EXPECT_GT(allocations_of([] { const Context context; }), 0U);
}

TEST(Allocation, none_is_added_to_those_of_the_middleware) {
  const Counts direct = count_direct(1000);
  EXPECT_EQ(count_takt(1000), direct);
  PrintTo(direct, &std::cout);
  std::cout << '\n';
}

TEST(Allocation, does_not_depend_on_the_size_of_the_payload) {
  EXPECT_EQ(count_takt(0), count_takt(10000));
}

TEST(Allocation, of_a_loan_is_at_most_one_for_each_transfer_and_side) {
  const Link<Small> link{"loan", QoS{10}, SubscriptionOptions{.loaned_messages = true}};
  if (!link.out->can_loan_messages() || !link.in->can_loan_messages()) {
    GTEST_SKIP() << "this middleware lends no messages";
  }
  ASSERT_TRUE(link.connect());
  MessageInfo info;
  ReceivedLoan<Small> got;
  const Counts counts =
      count([&] { return static_cast<bool>(link.out->publish(link.out->borrow_loaned_message())); },
            [&] { return static_cast<bool>(link.in->take_loaned(got, info)); });
  EXPECT_LE(counts.publish, repetitions);
  EXPECT_LE(counts.take, repetitions);
  PrintTo(counts, &std::cout);
  std::cout << '\n';
}

// What one thread of an executor allocates in a cycle: a timer that publishes, and a second one at
// the same priority that reads. Everything between the callbacks counts: the executor, the
// delivery, the pools, the trace.
template <class MessageT, class Publish>
std::size_t allocations_in_executor(bool intra_process, Publish publish) {
  const Context context{ContextOptions{.use_intra_process = intra_process}};
  const Node node{context, "loop"};
  const std::string topic = unique_topic("loop");
  const auto out = node.create_publisher<MessageT>(topic, QoS{5});
  const auto kept = node.create_subscription<MessageT>(topic, QoS{5});
  EXPECT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  const TemporaryFile file;
  ExecutorOptions options = quiet();
  options.trace = file.path();
  SchedulingExecutor executor{options};
  std::size_t before = 0;
  std::size_t after = 0;
  executor.add(node.create_timer(1ms, [&](const Job&) { publish(*out); }), {.priority = 50});
  int cycles = 0;
  executor.add(node.create_timer(1ms,
                                 [&](const Job&) {
                                   EXPECT_NE(kept->latest(), nullptr);
                                   ++cycles;
                                   if (cycles == warm_up) before = allocations;
                                   if (cycles == warm_up + repetitions) {
                                     after = allocations;
                                     executor.request_stop();
                                   }
                                 }),
               {.priority = 50, .reads = {kept}});
  executor.spin();
  EXPECT_EQ(executor.core().lost_trace_events(), 0U);
  return after - before;
}

TEST(AllocationInTheLoop, is_none_for_messages_by_pointer) {
  Sample sample;
  sample.payload.resize(1000);
  EXPECT_EQ(allocations_in_executor<Sample>(
                true, [&](auto& out) { static_cast<void>(out.publish(sample)); }),
            0U);
}

TEST(AllocationInTheLoop, is_that_of_the_unique_ptr_alone_which_the_program_makes) {
  EXPECT_EQ(
      allocations_in_executor<Small>(
          true, [&](auto& out) { static_cast<void>(out.publish(std::make_unique<Small>())); }),
      std::size_t{repetitions});
}

TEST(AllocationInTheLoop, is_that_of_the_middleware_for_messages_through_it) {
  const Counts direct = count_direct(1000);
  Sample sample;
  sample.payload.resize(1000);
  EXPECT_LE(allocations_in_executor<Sample>(
                false, [&](auto& out) { static_cast<void>(out.publish(sample)); }),
            direct.publish + direct.take);
}

}  // namespace
}  // namespace takt::test

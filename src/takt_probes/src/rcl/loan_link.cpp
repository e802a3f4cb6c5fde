// SPDX-License-Identifier: Apache-2.0
#include "loan_link.hpp"

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rcl_link.hpp"
#include "takt/probe/failure.hpp"

#ifdef TAKT_HAS_FIXED_MESSAGES
#include <takt_interfaces/msg/sample_fixed16_mb.hpp>
#include <takt_interfaces/msg/sample_fixed1_mb.hpp>
#include <takt_interfaces/msg/sample_fixed256_kb.hpp>
#include <takt_interfaces/msg/sample_fixed32_kb.hpp>
#include <takt_interfaces/msg/sample_fixed4_kb.hpp>
#include <takt_interfaces/msg/sample_fixed4_mb.hpp>
#include <takt_interfaces/msg/sample_fixed512_b.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#endif

namespace takt::probe {
namespace {

#ifdef TAKT_HAS_FIXED_MESSAGES
namespace msg = takt_interfaces::msg;
using Types = std::tuple<msg::SampleFixed64B, msg::SampleFixed512B, msg::SampleFixed4KB,
                         msg::SampleFixed32KB, msg::SampleFixed256KB, msg::SampleFixed1MB,
                         msg::SampleFixed4MB, msg::SampleFixed16MB>;
#else
using Types = std::tuple<>;
#endif

template <class Sample>
constexpr std::size_t payload_of = std::tuple_size_v<decltype(Sample::payload)>;

/// Calls `visit` with a type_identity of each type.
template <class Visit, class... Samples>
void for_each_type(const Visit& visit, std::type_identity<std::tuple<Samples...>> /*types*/) {
  (visit(std::type_identity<Samples>{}), ...);
}

template <class Visit>
void for_each_type(const Visit& visit) {
  for_each_type(visit, std::type_identity<Types>{});
}

Failure lends_nothing(const std::string& what) {
  return Failure{{.what = "no loans: the middleware lends no memory " + what,
                  .why = "it does not for messages of this type (rcl_" +
                         std::string{what == "to publishers" ? "publisher" : "subscription"} +
                         "_can_loan_messages)",
                  .fix = "take another RMW_IMPLEMENTATION, such as rmw_fastrtps_cpp, or "
                         "--transport process"}};
}

template <class Sample>
class LoanLink : public RclLink<FixedBody<Sample>> {
  using Base = RclLink<FixedBody<Sample>>;

 public:
  LoanLink(const takt::Context& context, const Options& options, Role role, os::StopFlag& stop,
           SentAddresses& addresses)
      : Base{context, options, role, stop, {.loaned_messages = true}}, addresses_{addresses} {
    if (role == Role::publisher && !this->out().can_loan_messages()) {
      throw lends_nothing("to publishers");
    }
    if (!this->in().can_loan_messages()) {
      throw lends_nothing("to subscriptions");
    }
  }

  bool send(const Message& message) noexcept override {
    auto loan = this->out().borrow_loaned_message();
    if (!loan.is_valid()) {
      return this->done(takt::Status{RCL_RET_BAD_ALLOC});
    }
    write_to(loan.get(), message);
    if (!message.last) {
      addresses_.note(message.sequence, &loan.get());
    }
    return this->done(this->out().publish(std::move(loan)));
  }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    while (this->await(deadline)) {
      takt::ReceivedLoan<Sample> loan;
      takt::MessageInfo info;
      const takt::Status status = this->in().take_loaned(loan, info);
      if (status) {
        const Message message = read_from(loan.get());
        if (!message.last) {
          addresses_.compare(message.sequence, &loan.get());
        }
        return message;
      }
      if (!status.nothing_taken()) {
        this->done(status);
        return {};
      }
    }
    return {};
  }

  std::optional<AddressCheck> addresses() const override { return addresses_.result(); }

 private:
  SentAddresses& addresses_;
};

}  // namespace

std::vector<std::size_t> loan_sizes() {
  std::vector<std::size_t> sizes;
  for_each_type([&sizes]<class Sample>(std::type_identity<Sample> /*type*/) {
    sizes.push_back(payload_of<Sample>);
  });
  return sizes;
}

std::unique_ptr<Link> open_loan_link(const takt::Context& context, const Options& options,
                                     Role role, os::StopFlag& stop, SentAddresses& sent) {
  std::unique_ptr<Link> link;
  for_each_type([&]<class Sample>(std::type_identity<Sample> /*type*/) {
    if (payload_of<Sample> == options.payload_bytes) {
      link = std::make_unique<LoanLink<Sample>>(context, options, role, stop, sent);
    }
  });
  return link;
}

}  // namespace takt::probe

// SPDX-License-Identifier: Apache-2.0
#include <rcl/arguments.h>
#include <rcl/init.h>
#include <rcl/init_options.h>

#include <takt/rcl/context.hpp>

#include "context_handle.hpp"
#include "rcl_error.hpp"

namespace takt {

namespace detail {

namespace {

constexpr const char* cannot_create = "cannot create a context";

// Only needed until rcl_init() has copied it.
class InitOptions {
 public:
  explicit InitOptions(const ContextOptions& options) {
    check(rcl_init_options_init(&options_, rcl_get_default_allocator()), cannot_create, "options");
    if (!options.domain_id) {
      return;
    }
    const rcl_ret_t code = rcl_init_options_set_domain_id(&options_, *options.domain_id);
    if (code != RCL_RET_OK) {
      fini();
      throw_rcl_error(code, cannot_create, "domain " + std::to_string(*options.domain_id));
    }
  }
  ~InitOptions() { fini(); }
  InitOptions(const InitOptions&) = delete;
  InitOptions& operator=(const InitOptions&) = delete;
  InitOptions(InitOptions&&) = delete;
  InitOptions& operator=(InitOptions&&) = delete;

  [[nodiscard]] const rcl_init_options_t* get() const noexcept { return &options_; }

 private:
  void fini() noexcept { log_failure(rcl_init_options_fini(&options_), "cannot free options"); }

  rcl_init_options_t options_{rcl_get_zero_initialized_init_options()};
};

std::vector<std::string> without_ros_arguments(int argc, const char* const* argv,
                                               const rcl_arguments_t& parsed) {
  const int count = rcl_arguments_get_count_unparsed(&parsed);
  if (count <= 0) {
    return {};
  }
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  int* indices = nullptr;
  check(rcl_arguments_get_unparsed(&parsed, allocator, &indices), "cannot read the arguments",
        "context");
  std::vector<std::string> rest;
  for (int i = 0; i < count; ++i) {
    if (indices[i] < argc) {
      rest.emplace_back(argv[indices[i]]);
    }
  }
  allocator.deallocate(indices, allocator.state);
  return rest;
}

// Fast DDS ends the process when a node is created in a higher one.
void check_domain(rcl_context_t& context) {
  constexpr std::size_t highest = 232;
  std::size_t id = 0;
  check(rcl_context_get_domain_id(&context, &id), cannot_create, "domain");
  if (id > highest) {
    throw RclError{RCL_RET_INVALID_ARGUMENT, cannot_create, "domain " + std::to_string(id),
                   "DDS has the domains 0 to 232; set another ROS_DOMAIN_ID, or another "
                   "ContextOptions::domain_id"};
  }
}

std::string join(int argc, const char* const* argv) {
  std::string text = "arguments:";
  for (int i = 1; i < argc; ++i) {
    text.append(" ").append(argv[i]);
  }
  return argc > 1 ? text : "no arguments";
}

}  // namespace

ContextHandle::ContextHandle() noexcept : context{rcl_get_zero_initialized_context()} {}

ContextHandle::ContextHandle(int argc, const char* const* argv, const ContextOptions& options)
    : ContextHandle{} {
  use_intra_process = options.use_intra_process;
  const InitOptions init_options{options};
  check(rcl_init(argc, argv, init_options.get(), &context), cannot_create, join(argc, argv));
  check_domain(context);
  non_ros_arguments = without_ros_arguments(argc, argv, context.global_arguments);
}

ContextHandle::~ContextHandle() {
  shutdown();
  log_failure(rcl_context_fini(&context), "cannot close a context");
}

void ContextHandle::shutdown() noexcept {
  const std::scoped_lock lock{shutdown_mutex_};
  if (rcl_context_is_valid(&context)) {
    log_failure(rcl_shutdown(&context), "cannot shut a context down");
  }
}

}  // namespace detail

Context::Context(int argc, const char* const* argv, const ContextOptions& options)
    : handle_{std::make_shared<detail::ContextHandle>(argc, argv, options)} {}

Context::Context(const ContextOptions& options) : Context{0, nullptr, options} {}

void Context::shutdown() noexcept {
  handle_->shutdown();
}

bool Context::is_valid() const noexcept {
  return rcl_context_is_valid(&handle_->context);
}

std::size_t Context::get_domain_id() const {
  std::size_t id = 0;
  detail::check(rcl_context_get_domain_id(&handle_->context, &id), "cannot read the domain",
                "context");
  return id;
}

const std::vector<std::string>& Context::get_non_ros_arguments() const noexcept {
  return handle_->non_ros_arguments;
}

rcl_context_t* Context::get_rcl_context() const noexcept {
  return &handle_->context;
}

}  // namespace takt

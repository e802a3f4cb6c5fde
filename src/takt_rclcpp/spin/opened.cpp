// SPDX-License-Identifier: Apache-2.0
#include "opened.hpp"

#include <dlfcn.h>
#include <rclcpp/version.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "entry.hpp"
#include "says.hpp"

namespace takt_rclcpp::spin {
namespace {

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string file_of(const void* function) {
  Dl_info about{};
  return ::dladdr(function, &about) != 0 && about.dli_fname != nullptr ? about.dli_fname : "";
}

// Of the package that installed the library; it is not in the library itself.
std::optional<std::string> version_of(const std::string& library) {
  for (const char* const up : {"/../share", "/../../share"}) {  // below lib, or lib/ARCHITECTURE
    std::ifstream file{folder_of(library) + up + "/rclcpp/package.xml"};
    for (std::string line; std::getline(file, line);) {
      const auto begin = line.find("<version>");
      const auto end = line.find("</version>");
      if (begin != std::string::npos && end != std::string::npos) {
        return line.substr(begin + 9, end - begin - 9);
      }
    }
  }
  return {};
}

// Within these the layout of rclcpp's classes stays.
std::string major_and_minor(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

Takeover* refuse(const std::string& library, const std::string& why, const std::string& fix) {
  say("its executors stay as they are: " + why + " (" + library + "); " + fix);
  report("kept", {"every executor", why + "; " + fix});
  return nullptr;
}

Takeover* open(const void* function) {
  const std::string library = file_of(function);
  const std::string built_for = RCLCPP_VERSION_STR;
  if (const auto version = version_of(library);
      version && major_and_minor(*version) != major_and_minor(built_for)) {
    return refuse(library, "it uses rclcpp " + *version + ", and Takt was built with " + built_for,
                  "source the ROS 2 of the program and build Takt there: ./takt --setup-only");
  }
  const std::string other =
      folder_of(file_of(reinterpret_cast<const void*>(&takeover))) + "/libtakt_spin_executor.so";
  // All of its functions at once: another rclcpp is refused here, not in the middle of spinning.
  void* const opened = ::dlopen(other.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = opened == nullptr ? nullptr : ::dlsym(opened, entry_name);
  if (entry == nullptr) {
    const char* const error = ::dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
    return refuse(library, error == nullptr ? "it cannot be opened: " + other : error,
                  "source the ROS 2 of the program and build Takt there: ./takt --setup-only");
  }
  return reinterpret_cast<Entry*>(entry)();
}

}  // namespace

void* find_next(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {  // rclcpp came with a plug-in that kept its libraries to itself
    void* const library = ::dlopen("librclcpp.so", RTLD_LAZY | RTLD_NOLOAD);
    found = library == nullptr ? nullptr : ::dlsym(library, name);
  }
  if (found == nullptr) {
    say("rclcpp has no function " + std::string{name} +
        " here. Run the program without takt spin, and build Takt in the program's ROS 2");
    std::abort();
  }
  return found;
}

Takeover* takeover(const void* function) {
  static Takeover* const opened = open(function);
  return opened;
}

}  // namespace takt_rclcpp::spin

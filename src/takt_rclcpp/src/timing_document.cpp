// SPDX-License-Identifier: Apache-2.0
#include "timing_document.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core_names.hpp"
#include "takt/sched/error.hpp"

namespace takt_rclcpp {
namespace {

constexpr std::size_t most_bytes = std::size_t{1024} * 1024;

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& file)
      : number_{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)} {}
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

std::string content_of(const std::filesystem::path& file, const Place& place) {
  const YAML::Mark nowhere = YAML::Mark::null_mark();
  const auto unreadable = [&](int error) {
    place.refuse(nowhere, "it cannot be read: " + std::generic_category().message(error),
                 error == EACCES ? "let this user read it" : "give the path of a timing file");
  };
  // Before it is opened: some devices begin to work then.
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) {
    if (errno == ENOENT) {
      place.refuse(nowhere, "there is no such file",
                   "give the path of a timing file; `takt analyse --assign` writes one");
    }
    unreadable(errno);
  }
  if (!S_ISREG(about.st_mode)) {
    place.refuse(nowhere, "it is a folder, a pipe or a device",
                 "give the path of an ordinary file");
  }
  const Descriptor descriptor{file};
  if (descriptor.number() < 0) {
    unreadable(errno);
  }
  std::string content;
  std::array<char, 16384> part{};
  while (content.size() <= most_bytes) {  // whatever size the file system tells
    const ssize_t count = ::read(descriptor.number(), part.data(), part.size());
    if (count < 0) {
      unreadable(errno);
    }
    if (count == 0) {
      return content;
    }
    content.append(part.data(), static_cast<std::size_t>(count));
  }
  place.refuse(nowhere, "it has more than a megabyte",
               "say what many callbacks share once, in an entry without node or kind");
}

// How many bytes the letter at the begin of `text` has, by its first one; 0: no letter begins so.
std::size_t letter_size(unsigned char first) noexcept {
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return 2;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    return 3;
  }
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// Where the first bytes are that are no UTF-8 (RFC 3629), or a letter that no text has.
std::optional<std::size_t> first_that_is_no_text(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const std::size_t size = letter_size(byte(0));
    if (size == 0 || at + size > text.size()) {
      return at;
    }
    for (std::size_t i = 1; i < size; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) {
        return at;
      }
    }
    const bool overlong =
        (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
    const bool beyond = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
    const bool control = byte(0) < 0x20 && byte(0) != '\t' && byte(0) != '\n' && byte(0) != '\r';
    if (overlong || beyond || control) {
      return at;
    }
    at += size;
  }
  return {};
}

// Refuses what a file of this kind has no use for, where it stands.
class OnlyPlain final : public YAML::EventHandler {
 public:
  explicit OnlyPlain(const Place& place) : place_{place} {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      place_.refuse(mark, "a second document begins here", "take out the line '---'");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { look(mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { look(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& /*value*/) override {
    look(mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    deeper(mark, anchor);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    deeper(mark, anchor);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void look(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      place_.refuse(mark, "anchors (&) and aliases (*) are not read here", "write the value out");
    }
  }

  void deeper(const YAML::Mark& mark, YAML::anchor_t anchor) {
    look(mark, anchor);
    if (++depth_ > most_levels) {
      place_.refuse(mark, "lists and tables stand too deep in each other here",
                    "close brackets; no key of this file needs more than five levels");
    }
  }

  static constexpr int most_levels = 20;
  const Place& place_;
  int documents_ = 0;
  int depth_ = 0;
};

}  // namespace

void Place::refuse(const YAML::Mark& mark, const std::string& problem,
                   const std::string& fix) const {
  const std::string line = mark.is_null() ? "" : ":" + std::to_string(mark.line + 1);
  throw sched::ScheduleError(file_ + line, problem, fix);
}

YAML::Node load_document(const std::filesystem::path& file, const Place& place) {
  const std::string content = content_of(file, place);
  if (const auto at = first_that_is_no_text(content)) {
    const auto end = content.begin() + static_cast<std::ptrdiff_t>(*at);
    YAML::Mark mark;
    mark.line = static_cast<int>(std::count(content.begin(), end, '\n'));
    place.refuse(mark, "it is no text in UTF-8 from here on",
                 "save it as text in UTF-8 with your editor");
  }
  try {
    OnlyPlain handler{place};
    std::istringstream stream{content};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(handler)) {
    }
    return YAML::Load(content);
  } catch (const YAML::Exception& problem) {
    place.refuse(problem.mark, "it is not YAML: " + problem.msg, "correct that line");
  }
}

}  // namespace takt_rclcpp

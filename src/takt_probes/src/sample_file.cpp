// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/sample_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::size_t bytes, int error) {
  const std::string what = "the sample file " + path.string() + " could not be created";
  std::string why = os::error_text(error);
  std::string fix = "choose another path with --samples";
  switch (error) {
    case EEXIST:
      why = "it exists already, and recorded samples are never overwritten";
      fix = "remove it or choose another path with --samples";
      break;
    case ENOENT:
      why = "its folder does not exist";
      fix = "create the folder first";
      break;
    case ENOSPC:
    case ENOMEM:
    case EFBIG:
      why = "no space for " + std::to_string(bytes) + " bytes (" + why + ")";
      fix = "free space there, choose another path with --samples, or lower --count";
      break;
    default:
      break;
  }
  throw Failure{{what, why, fix}};
}

}  // namespace

SampleFile::SampleFile(const std::filesystem::path& path, std::uint64_t capacity)
    : bytes_{header_bytes + capacity * sizeof(Sample)} {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    fail(path, bytes_, errno);
  }
  int error = posix_fallocate(file, 0, static_cast<off_t>(bytes_));
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    error = memory == MAP_FAILED ? errno : 0;
  }
  close(file);
  if (error != 0) {
    unlink(path.c_str());
    fail(path, bytes_, error);
  }
  locked_ = mlock(memory, bytes_) == 0;
  // MAP_POPULATE faults shared pages in for reading only; on some file systems the first write to
  // each would fault again, in the loop.
  for (std::size_t at = 0; at < bytes_; at += header_bytes) {
    static_cast<volatile char*>(memory)[at] = 0;
  }
  header_ = new (memory) SampleHeader{};
  samples_ = reinterpret_cast<Sample*>(static_cast<std::byte*>(memory) + header_bytes);
  header_->header_bytes = header_bytes;
  header_->record_bytes = sizeof(Sample);
  header_->capacity = capacity;
  header_->realtime_minus_monotonic = os::realtime_offset().count();
  std::memcpy(header_->magic, "TAKTSMP1", sizeof(header_->magic));
}

SampleFile::~SampleFile() {
  munmap(header_, bytes_);
}

}  // namespace takt::probe

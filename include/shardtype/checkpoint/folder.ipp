#pragma once
/// Definitions of folder.hpp.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/open_file.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE std::string step_name(std::int64_t step) {
  char out[32];
  std::snprintf(out, sizeof out, "step_%08lld", static_cast<long long>(step));
  return out;
}

SHARDTYPE_INLINE std::optional<std::int64_t> step_of(std::string_view name) {
  std::string_view const start = "step_";
  if (!name.starts_with(start)) return {};
  name.remove_prefix(start.size());
  std::int64_t out = 0;
  auto const read = std::from_chars(name.data(), name.data() + name.size(), out);
  bool const whole = read.ec == std::errc() && read.ptr == name.data() + name.size();
  // a number has one name
  if (!whole || out < 0 || step_name(out).substr(start.size()) != name) return {};
  return out;
}

SHARDTYPE_INLINE std::string joined(std::string const& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return folder + (folder.back() == '/' ? "" : "/") + std::string(name);
}

SHARDTYPE_INLINE int sync_path(std::string const& path) {
  return with_file(path, O_RDONLY, [](int descriptor) {
    int const fault = fsync(descriptor) == 0 ? 0 : errno;
    return fault == EINVAL ? 0 : fault;  // some systems of files cannot do it for folders
  });
}

SHARDTYPE_INLINE int write_at(int descriptor, char const* data, std::size_t bytes,
                              std::int64_t at) {
  while (bytes > 0) {
    ssize_t const n = pwrite(descriptor, data, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    data += n;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return 0;
}

SHARDTYPE_INLINE int create_file(std::string const& path, std::string_view start,
                                 std::int64_t bytes) {
  return with_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, [&](int descriptor) {
    int fault = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    if (fault == 0) fault = write_at(descriptor, start.data(), start.size(), 0);
    return fault == 0 && fsync(descriptor) != 0 ? errno : fault;
  });
}

/// The numbers of the complete steps of a run, in increasing order.
inline std::vector<std::int64_t> steps_of(std::string const& run) {
  namespace fs = std::filesystem;
  std::vector<std::int64_t> out;
  std::error_code ignored;
  for (auto at = fs::directory_iterator(run.empty() ? "." : run, ignored);
       !ignored && at != fs::directory_iterator(); at.increment(ignored))
    if (auto const step = step_of(at->path().filename().string());
        step && fs::exists(at->path() / manifest_name, ignored))
      out.push_back(*step);
  std::sort(out.begin(), out.end());
  return out;
}

SHARDTYPE_INLINE std::string find_step(std::string const& run, NpyOutcome& outcome) {
  std::error_code ignored;
  auto const complete = [&](std::string const& folder) {
    return std::filesystem::exists(joined(folder, manifest_name), ignored);
  };
  if (complete(run)) return run;
  std::string const latest = joined(run, "latest");
  runtime::OpenFile const in(latest);
  std::string name;
  int fault = in.fault();
  if (fault == 0) fault = in.read(0, std::min<std::int64_t>(in.bytes(), 64), name);
  name = name.substr(0, name.find('\n'));
  if (fault == 0 && step_of(name) && complete(joined(run, name))) return joined(run, name);
  if (fault != 0 && fault != ENOENT && fault != ENOTDIR) {
    outcome.note("IO1", "cannot read " + latest + ": " + runtime::file_fault_text(fault));
    return {};
  }
  // a program was killed between its first step and its name in `latest`
  auto const steps = steps_of(run);
  return steps.empty() ? std::string() : joined(run, step_name(steps.back()));
}

/// A name that no other program has: ".start.0123456789abcdef.end".
inline std::string hidden_name(std::string_view start, std::string_view end) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t number = static_cast<std::uint64_t>(getpid());
  for (std::int64_t const part : {std::int64_t{now.tv_sec}, std::int64_t{now.tv_nsec}})
    number = number * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(part);
  char digits[24];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  std::string name = ".";  // "." + std::string(start) makes g++ 12 warn of an impossible overlap
  return name.append(start).append(".").append(digits).append(".").append(end);
}

SHARDTYPE_INLINE void StepFolder::note(std::string const& path, int fault) {
  if (fault != 0)
    outcome.note("IO8", "cannot write " + path + ": " + runtime::file_fault_text(fault));
}

/// Each program that saves holds a shared lock; who gets it alone removes what killed programs
/// left.
SHARDTYPE_INLINE void StepFolder::lock() {
  namespace fs = std::filesystem;
  int fault = 0;
  lock_ = runtime::open_regular(joined(run_, ".lock"), O_RDWR | O_CREAT | O_NOFOLLOW, fault);
  if (lock_ < 0) return;  // it is another's, or no file: then nothing is removed
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    std::vector<fs::path> left;
    for (auto at = fs::directory_iterator(run_, ignored);
         !ignored && at != fs::directory_iterator(); at.increment(ignored)) {
      std::string const name = at->path().filename().string();
      if ((name.starts_with(".step_") || name.starts_with(".latest.")) &&
          (name.ends_with(".partial") || name.ends_with(".removed")))
        left.push_back(at->path());
    }
    for (fs::path const& path : left) fs::remove_all(path, ignored);
  }
  flock(lock_, LOCK_SH);
}
SHARDTYPE_INLINE void StepFolder::unlock() {
  if (lock_ >= 0) close(lock_);
  lock_ = -1;
}

SHARDTYPE_INLINE void StepFolder::create(std::string const& run, std::int64_t step) try {
  namespace fs = std::filesystem;
  discard();
  run_ = run.empty() ? "." : run;
  name_ = step_name(step);
  place_ = joined(run_, name_);
  std::error_code failed;
  bool const made = fs::create_directories(run_, failed);
  if (failed) return note(run_, failed.value());
  if (made) {
    auto const above = fs::absolute(run_, failed).lexically_normal().parent_path();
    note(run_, sync_path(above.string()));
  }
  lock();
  std::string const hidden = joined(run_, hidden_name(name_, "partial"));
  if (mkdir(hidden.c_str(), 0777) != 0) return note(place_, errno);
  written_ = hidden;
} catch (std::exception const& failure) {
  outcome.note("IO8", "cannot write " + place_ + ": " + failure.what());
}

SHARDTYPE_INLINE void StepFolder::add_file(std::string const& name, std::string_view start,
                                           std::int64_t bytes) {
  if (outcome.fine()) note(joined(place_, name), create_file(joined(written_, name), start, bytes));
}

SHARDTYPE_INLINE void StepFolder::publish(std::string_view manifest) {
  if (!outcome.fine()) return;
  int fault = create_file(joined(written_, manifest_name), manifest,
                          static_cast<std::int64_t>(manifest.size()));
  if (fault != 0) return note(joined(place_, manifest_name), fault);
  if (fault = sync_path(written_); fault != 0) return note(place_, fault);
  if (std::rename(written_.c_str(), place_.c_str()) == 0) {
    written_.clear();
  } else if (errno == EEXIST || errno == ENOTEMPTY) {
    // what was at its place is then hidden, and removed
    if (syscall(SYS_renameat2, AT_FDCWD, written_.c_str(), AT_FDCWD, place_.c_str(), 2U) != 0)
      return note(place_ + ", which exists: remove it first", errno);
  } else {
    return note(place_, errno);
  }
  if (fault = sync_path(run_); fault != 0) return note(place_, fault);
  write_latest();
}

SHARDTYPE_INLINE void StepFolder::write_latest() {
  std::string const place = joined(run_, "latest");
  std::string const hidden = joined(run_, hidden_name("latest", "partial"));
  std::string const text = name_ + "\n";
  int fault = create_file(hidden, text, static_cast<std::int64_t>(text.size()));
  if (fault == 0 && std::rename(hidden.c_str(), place.c_str()) != 0) fault = errno;
  if (fault == 0) return note(place, sync_path(run_));
  unlink(hidden.c_str());
  note(place, fault);
}

SHARDTYPE_INLINE void StepFolder::remove_others(int keep) const {
  auto steps = steps_of(run_);
  auto const own = step_of(name_);
  steps.erase(std::upper_bound(steps.begin(), steps.end(), own.value_or(0)), steps.end());
  std::error_code ignored;
  for (std::size_t k = 0; k + static_cast<std::size_t>(keep) < steps.size(); ++k) {
    std::string const name = step_name(steps[k]);
    std::string const hidden = joined(run_, hidden_name(name, "removed"));
    if (std::rename(joined(run_, name).c_str(), hidden.c_str()) == 0)
      std::filesystem::remove_all(hidden, ignored);
  }
}

SHARDTYPE_INLINE void StepFolder::discard() {
  std::error_code ignored;
  if (!written_.empty()) std::filesystem::remove_all(written_, ignored);
  written_.clear();
  unlock();
}

}  // namespace shardtype::checkpoint::detail

// Files that are replaced when they are complete, and texts from outside on one line.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>

#include <shardtype/core/error.hpp>
#include <shardtype/runtime/files.hpp>

#include "../harness/catch.hpp"

using namespace shardtype;

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char name[] = "./shardtype-files-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(std::string const& name) const { return path_ + "/" + name; }
  int entries() const {
    return static_cast<int>(std::distance(fs::directory_iterator(path_), fs::directory_iterator{}));
  }

 private:
  std::string path_;
};

std::string contents(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a file is replaced by a whole one") {
  Folder const folder;
  std::string const path = folder / "a.txt";
  CHECK(runtime::replace_file(path, "first") == 0);
  CHECK(contents(path) == "first");
  {
    runtime::ReplacedFile file;
    REQUIRE(file.create(path) == 0);
    file.write("sec");
    CHECK(contents(path) == "first");
    CHECK(folder.entries() == 2);
  }
  CHECK(contents(path) == "first");
  CHECK(folder.entries() == 1);
  CHECK(runtime::cannot_replace(path) == 0);
  CHECK(folder.entries() == 1);
  fs::permissions(path, fs::perms::owner_all);
  CHECK(runtime::replace_file(path, "second") == 0);
  CHECK(contents(path) == "second");
  CHECK(fs::status(path).permissions() == fs::perms::owner_all);
  CHECK(runtime::replace_file(folder / "none/a.txt", "text") == ENOENT);
  CHECK(runtime::replace_file(folder / ".", "text") == EISDIR);
  CHECK(runtime::replace_file(folder / "new/", "text") != 0);
  CHECK(runtime::replace_file("", "text") == ENOENT);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a write that fails leaves the old file and no other") {
  Folder const folder;
  std::string const path = folder / "a.txt";
  REQUIRE(runtime::replace_file(path, "first") == 0);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const little{10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  int const failed = runtime::replace_file(path, std::string(100'000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(failed == EFBIG);
  CHECK(contents(path) == "first");
  CHECK(folder.entries() == 1);
}

TEST_CASE("what killed programs left for a path is removed by the next, and nothing else") {
  Folder const folder;
  std::string const path = folder / "a.txt";
  std::string const killed = path + ".0123456789abcdef.partial",
                    other_path = folder / "b.txt.0123456789abcdef.partial",
                    other_name = path + ".0123456789abcdeg.partial",
                    link = path + ".0000000000000000.partial",
                    fifo = path + ".0000000000000001.partial";
  for (std::string const& name : {killed, other_path, other_name})
    std::ofstream(name) << "half a file";
  fs::create_symlink("b.txt.0123456789abcdef.partial", link);
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  {
    runtime::ReplacedFile running;
    REQUIRE(running.create(path) == 0);
    CHECK(!fs::exists(killed));
    CHECK(runtime::replace_file(path, "second") == 0);
    CHECK(fs::exists(running.written()));
    running.write("first");
    CHECK(running.finish() == 0);
    CHECK(contents(path) == "first");
  }
  for (std::string const& name : {other_path, other_name, link})
    CHECK(contents(name) == "half a file");
  CHECK(fs::is_fifo(fifo));
  CHECK(folder.entries() == 5);
}

TEST_CASE("only bytes that a file has are read") {
  Folder const folder;
  std::string const path = folder / "a.txt";
  REQUIRE(runtime::replace_file(path, "some text") == 0);
  runtime::OpenFile const file(path);
  REQUIRE(file.fault() == 0);
  CHECK(file.bytes() == 9);
  std::string out;
  CHECK(file.read(5, 4, out) == 0);
  CHECK(out == "text");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (auto const& [at, count] : {std::pair<std::int64_t, std::int64_t>{5, 5},
                                  {10, 0},
                                  {-1, 2},
                                  {2, -1},
                                  {0, most},
                                  {most, most},
                                  {most, 1}})
    CHECK(file.read(at, count, out) == runtime::file_fault::cut);
  fs::resize_file(path, 3);
  CHECK(file.read(1, 8, out) == runtime::file_fault::cut);
  CHECK(runtime::OpenFile(std::string("a\0b", 3)).fault() == EINVAL);
  CHECK(runtime::OpenFile(folder / ".").fault() == EISDIR);
}

TEST_CASE("devices are written themselves, and nothing waits for a fifo") {
  CHECK(runtime::replace_file("/dev/null", "text") == 0);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(runtime::replace_file("/dev/full", "text") == ENOSPC);
  Folder const folder;
  std::string const fifo = folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(runtime::replace_file(fifo, "text") == runtime::file_fault::fifo);
  int fault = 0;
  CHECK(runtime::open_to_read(fifo, fault) == nullptr);
  CHECK(fault == runtime::file_fault::fifo);
  CHECK(runtime::open_to_read("/dev/zero", fault) == nullptr);
  CHECK(fault == runtime::file_fault::device);
  CHECK(runtime::open_to_read(folder / ".", fault) == nullptr);
  CHECK(fault == EISDIR);
  CHECK(runtime::open_to_read(folder / "none", fault) == nullptr);
  CHECK(fault == ENOENT);
  REQUIRE(runtime::replace_file(folder / "text", "some") == 0);
  std::FILE* const file = runtime::open_to_read(folder / "text", fault);
  REQUIRE(file != nullptr);
  CHECK(fault == 0);
  char some[8] = {};
  CHECK(std::fread(some, 1, sizeof some, file) == 4);
  std::fclose(file);
}

TEST_CASE("control characters of a text are escaped") {
  using shardtype::detail::printable;
  CHECK(printable("a b\\c") == "a b\\c");
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable(std::string("\x1b[2J\x7f\0x", 7)) == "\\x1b[2J\\x7f\\x00x");
  CHECK(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82") ==
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
  // control characters in UTF-8 and in Latin-1, and a character that is cut off
  CHECK(printable("\xc2\x9b"
                  "2J") ==
        "\\xc2\\x9b"
        "2J");
  CHECK(printable("\x9b"
                  "2J") ==
        "\\x9b"
        "2J");
  CHECK(printable("\xe9t\xe9") == "\xe9t\xe9");
  CHECK(printable("\xe2\x82") == "\xe2\\x82");
  CHECK(std::string(Error("MINE",
                          "a\x1b"
                          "b")
                        .what()) == "[shardtype MINE] a\\x1bb");
}

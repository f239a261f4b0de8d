// NumPy files that all ranks read and write together.
// RANKS: 1 2 3 4 6 8
#include <algorithm>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <mpi.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <shardtype/io/npy_file.hpp>

#include "../harness/catch.hpp"

using namespace shardtype;

namespace {

namespace fs = std::filesystem;
using Shape = io::NpyInts;

// Collective accesses take half a second per file if ranks share cores, so most tests use
// independent ones.
io::NpyAccess const alone{.collective = false};

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// A barrier that yields the core while it waits.
void meet() { detail::reduce_number(MPI_COMM_WORLD, 0, MPI_MAX); }

/// A new directory whose name all ranks have; it is removed at the end.
class TempDir {
 public:
  TempDir() {
    char const* const base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : ".") + "/shardtype-npy-np" +
                       std::to_string(ranks()) + "-XXXXXX";
    if (my_rank() == 0 && mkdtemp(name.data()) == nullptr) name.assign(name.size(), '?');
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name;
    REQUIRE(path_.back() != '?');
  }
  TempDir(TempDir const&) = delete;
  TempDir& operator=(TempDir const&) = delete;
  ~TempDir() {
    meet();
    std::error_code ignored;
    if (my_rank() == 0) fs::remove_all(path_, ignored);
  }
  std::string operator/(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct Block {
  Shape begin, count;
  bool first = true;  // whether this rank, among those with the same block, writes it
};

/// This rank's block when the ranks, as a grid of `rows` by the rest, split dimension `d0` by their
/// row and `d1` by their column; a dimension of -1 is not split.
Block block_of(Shape const& shape, int rows, int d0, int d1) {
  int const cols = ranks() / rows, row = my_rank() / cols, col = my_rank() % cols;
  Block out{Shape(shape.size(), 0), shape};
  auto const split = [&](int dim, int parts, int k) {
    if (dim < 0) {
      out.first = out.first && k == 0;
      return;
    }
    auto const d = static_cast<std::size_t>(dim);
    std::int64_t const n = out.count[d], length = (n + parts - 1) / parts;
    std::int64_t const at = std::min(n, k * length);
    out.begin[d] += at;
    out.count[d] = std::min(length, n - at);
  };
  split(d0, rows, row);
  split(d1, cols, col);
  return out;
}

/// Distributions of a shape over the ranks: replicated, each dimension split by all ranks, pairs of
/// dimensions split by a grid, one dimension split twice, and copies along one side of the grid.
std::vector<Block> blocks_of(Shape const& shape) {
  std::vector<Block> out{block_of(shape, 1, -1, -1)};
  int const rows = ranks() % 2 == 0 ? 2 : 1, n = static_cast<int>(shape.size());
  for (int a = 0; a < n; ++a) {
    out.push_back(block_of(shape, 1, -1, a));
    out.push_back(block_of(shape, rows, a, -1));
    for (int b = 0; b < n; ++b) out.push_back(block_of(shape, rows, a, b));
  }
  return out;
}

template <class T>
T value_at(std::int64_t linear) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(linear + 1);
  } else {
    using Real = typename T::value_type;
    return {static_cast<Real>(linear + 1), static_cast<Real>(-linear)};
  }
}

std::int64_t elements(Shape const& count) {
  std::int64_t n = 1;
  for (auto const c : count) n *= c;
  return n;
}

/// The elements of a block in row-major order, or column-major if `reversed`; the value of an
/// element is its row-major index in the whole array.
template <class T>
std::vector<T> values(Shape const& shape, Shape const& begin, Shape const& count,
                      bool reversed = false) {
  std::vector<T> out;
  for (std::int64_t k = 0; k < elements(count); ++k) {
    std::int64_t rest = k, place = 0, stride = 1;
    Shape index(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const d = reversed ? i : shape.size() - 1 - i;
      index[d] = begin[d] + rest % count[d];
      rest /= count[d];
    }
    for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) place += index[d] * stride;
    out.push_back(value_at<T>(place));
  }
  return out;
}

template <class T>
std::string file_image(Shape const& shape, bool fortran) {
  std::string out = io::format_npy_header(io::npy_dtype<T>(), shape, fortran);
  auto const data = values<T>(shape, Shape(shape.size(), 0), shape, fortran);
  if (!data.empty())
    out.append(reinterpret_cast<char const*>(data.data()), data.size() * sizeof(T));
  return out;
}

std::string contents(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The names in a folder, in order.
std::vector<std::string> names_in(std::string const& folder) {
  std::vector<std::string> out;
  for (fs::directory_entry const& entry : fs::directory_iterator(folder))
    out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Rank 0 writes a file; the others wait for it.
void make_file(std::string const& path, std::string const& text) {
  if (my_rank() == 0) std::ofstream(path, std::ios::binary) << text;
  meet();
}

template <class T>
void write(std::string const& path, Shape const& shape, Block const& b, bool fortran,
           io::NpyAccess access = alone) {
  auto const data = values<T>(shape, b.begin, b.count);
  write_npy(MPI_COMM_WORLD, path, io::npy_dtype<T>(), shape, b.begin, b.count, sizeof(T),
            data.data(), b.first, fortran, access);
}

template <class T>
std::vector<T> read(std::string const& path, io::NpyHeader const& header, Block const& b,
                    io::NpyAccess access = alone) {
  // one element too many shows that only the block is written
  std::vector<T> out(static_cast<std::size_t>(elements(b.count)) + 1, T(-7));
  read_npy_block(MPI_COMM_WORLD, path, header, b.begin, b.count, sizeof(T), out.data(), access);
  CHECK(out.back() == T(-7));
  out.pop_back();
  return out;
}

/// Checks that all ranks throw the same error, and returns its text.
template <class F>
std::string shared_failure(F call) {
  std::string text = "no error";
  try {
    call();
  } catch (Error const& error) {
    CHECK(error.where() == FailedOn::every_rank);
    text = error.what();
  }
  std::string zero = text;
  int length = static_cast<int>(zero.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  zero.resize(static_cast<std::size_t>(length));
  MPI_Bcast(zero.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(text == zero);
  return text;
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != text.npos;
}

std::vector<Shape> const shapes{{},     {1},       {5},          {17},        {0},       {4, 6},
                                {5, 3}, {1, 9},    {7, 0},       {2, 3, 5},   {4, 1, 6}, {8, 8, 2},
                                {9, 2}, {3, 2, 9}, {2, 3, 4, 5}, {1, 2, 1, 3}};

}  // namespace

TEMPLATE_TEST_CASE("each dtype is written and read back", "", float, double, std::int32_t,
                   std::int64_t, std::complex<float>, std::complex<double>) {
  TempDir const dir;
  auto const path = dir / "a.npy";
  for (auto const& shape : {Shape{5, 7}, Shape{}, Shape{3, 2, 4}})
    for (bool const fortran : {false, true}) {
      auto const all = blocks_of(shape);
      write<TestType>(path, shape, all.back(), fortran);
      CHECK(contents(path) == file_image<TestType>(shape, fortran));
      auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
      check_npy(header, path, io::npy_dtype<TestType>(), shape.size());
      CHECK(header.shape == shape);
      CHECK(header.fortran_order == fortran);
      for (auto const& b : all)
        CHECK(read<TestType>(path, header, b) == values<TestType>(shape, b.begin, b.count));
    }
}

TEST_CASE("any block of any shape is read, in both orders") {
  TempDir const dir;
  for (auto const& shape : shapes)
    for (bool const fortran : {false, true}) {
      auto const path = dir / "a.npy";
      make_file(path, file_image<float>(shape, fortran));
      auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
      for (auto const& b : blocks_of(shape))
        CHECK(read<float>(path, header, b) == values<float>(shape, b.begin, b.count));
      meet();
    }
}

TEST_CASE("any distribution of any shape is written, in both orders") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  for (auto const& shape : shapes)
    for (bool const fortran : {false, true}) {
      auto const expected = file_image<std::int32_t>(shape, fortran);
      auto const all = blocks_of(shape);
      // each order tests every second distribution
      for (std::size_t k = fortran ? 1 : 0; k < all.size(); k += 2) {
        write<std::int32_t>(path, shape, all[k], fortran);
        if (my_rank() == 0) CHECK(contents(path) == expected);
        meet();
      }
    }
}

TEST_CASE("blocks go in as many calls as the limits ask for") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  for (auto const& access : {io::NpyAccess{false, 1, 1}, io::NpyAccess{false, 24, 2},
                             io::NpyAccess{false, 100, 3}, io::NpyAccess{false, 1000, 1}})
    for (auto const& shape : {Shape{5, 7}, Shape{}, Shape{3, 4, 5}, Shape{2, 3, 4, 5}, Shape{23}})
      for (bool const fortran : {false, true}) {
        auto const all = blocks_of(shape);
        write<double>(path, shape, all[all.size() / 2], fortran, access);
        CHECK(contents(path) == file_image<double>(shape, fortran));
        auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
        for (std::size_t k = 0; k < all.size(); k += 3)
          CHECK(read<double>(path, header, all[k], access) ==
                values<double>(shape, all[k].begin, all[k].count));
        meet();
      }
}

TEST_CASE("ranks combine their accesses") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  for (bool const fortran : {false, true}) {
    auto const shape = fortran ? Shape{5, 7} : Shape{3, 2, 4};
    auto const b = blocks_of(shape).back();
    io::NpyAccess together;
    if (fortran) together.bytes = 64;  // a few calls in total, not as many on each rank
    write<double>(path, shape, b, fortran, together);
    CHECK(contents(path) == file_image<double>(shape, fortran));
    auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
    CHECK(read<double>(path, header, b, together) == values<double>(shape, b.begin, b.count));
  }
}

TEST_CASE("a new file replaces a longer one") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  make_file(path, std::string(5000, 'x'));
  write<float>(path, {5, 3}, block_of({5, 3}, 1, -1, 0), false);
  CHECK(contents(path) == file_image<float>({5, 3}, false));
}

TEST_CASE("a file's name may hold a colon and spaces") {
  TempDir const dir;
  auto const path = dir / "run 12:30.npy";
  write<float>(path, {5, 3}, block_of({5, 3}, 1, -1, 0), false);
  CHECK(contents(path) == file_image<float>({5, 3}, false));
  auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
  auto const b = block_of({5, 3}, 1, -1, 0);
  CHECK(read<float>(path, header, b) == values<float>({5, 3}, b.begin, b.count));
}

TEST_CASE("all ranks learn together that a file cannot be loaded") {
  TempDir const dir;
  auto const fails = [&](std::string const& path) {
    return shared_failure([&] { io::read_npy_header(MPI_COMM_WORLD, path); });
  };
  auto const missing = dir / "missing.npy";
  CHECK(fails(missing) == "[shardtype IO1] cannot open " + missing + ": no such file");
  CHECK(contains(fails(dir / "."), ": it is a directory"));
  auto const path = dir / "a.npy";
  make_file(path, "");
  CHECK(contains(fails(path), "[shardtype IO2] " + path + " is not a .npy file"));
  make_file(path, "PK\x03\x04 something else");
  CHECK(contains(fails(path), "IO2"));

  auto const good = file_image<float>({5, 3}, false);
  make_file(path, good.substr(0, 9));
  CHECK(contains(fails(path), "[shardtype IO3] " + path + " ends within its header"));
  make_file(path, good.substr(0, 100));
  CHECK(contains(fails(path), "IO3"));
  make_file(path, good.substr(0, good.size() - 1));
  CHECK(fails(path) ==
        "[shardtype IO6] " + path + " has 187 bytes, its header promises 188: the file is cut off");
  make_file(path, good + "more");  // NumPy reads such a file too
  CHECK(io::read_npy_header(MPI_COMM_WORLD, path).shape == Shape{5, 3});

  auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
  CHECK(contains(shared_failure([&] { check_npy(header, path, "<f4", 1); }), "IO5"));
  CHECK(contains(shared_failure([&] { check_npy(header, path, "<f8", 2); }), "IO4"));
}

TEST_CASE("all ranks learn together that a block cannot be read") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  auto const good = file_image<float>({5, 3}, false);
  make_file(path, good);
  auto const header = io::read_npy_header(MPI_COMM_WORLD, path);
  auto const b = block_of({5, 3}, 1, -1, 0);
  std::vector<float> out(15);
  io::NpyAccess access;
  auto const fails = [&](Block const& block) {
    return shared_failure([&] {
      read_npy_block(MPI_COMM_WORLD, path, header, block.begin, block.count, 4, out.data(), access);
    });
  };
  Block outside{{0, 0}, {5, 3}};
  if (my_rank() == ranks() - 1) outside.begin[1] = 1;  // only one rank has a wrong block
  CHECK(contains(fails(outside), "[shardtype IO9] " + path));

  make_file(path, good.substr(0, 150));  // the file becomes shorter after its header was read
  for (bool const collective : {true, false}) {
    access.collective = collective;
    CHECK(contains(fails(b), "[shardtype IO6] " + path + " has 150 bytes"));
  }
  meet();
  if (my_rank() == 0) fs::remove(path);
  meet();
  for (bool const collective : {true, false}) {
    access.collective = collective;
    CHECK(contains(fails(b), "[shardtype IO1] cannot read " + path));
  }
}

TEST_CASE("all ranks learn together that a file cannot be written") {
  TempDir const dir;
  auto const b = block_of({5, 3}, 1, -1, 0);
  auto const fails = [&](std::string const& path) {
    return shared_failure([&] { write<float>(path, {5, 3}, b, false); });
  };
  auto const path = dir / "no/such/directory/a.npy";
  CHECK(contains(fails(path),
                 "[shardtype IO8] cannot write " + path + ": its directory does not exist"));
  CHECK(contains(fails(dir / "."), "IO8"));
}

TEST_CASE("a file that cannot be written whole leaves the old one as it was") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  auto const small = block_of({5, 3}, 1, -1, 0);
  write<float>(path, {5, 3}, small, false);
  meet();
  std::string old;
  if (my_rank() == 0) old = contents(path);
  // the write exceeds the limit of the file size
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const little{1 << 14, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  auto const large = block_of({200, 300}, 1, -1, 0);
  std::string const failure = shared_failure([&] { write<float>(path, {200, 300}, large, false); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(failure, "[shardtype IO8] cannot write " + path));
  meet();
  if (my_rank() == 0) {
    CHECK(contents(path) == old);
    CHECK(names_in(dir / ".") == std::vector<std::string>{"a.npy"});
    // a link stays a link, and its target keeps the permissions
    fs::permissions(path, fs::perms::owner_all);
    fs::create_symlink(fs::absolute(path), dir / "link.npy");
  }
  meet();
  write<float>(dir / "link.npy", {200, 300}, large, false);
  meet();
  if (my_rank() == 0) {
    CHECK(fs::is_symlink(dir / "link.npy"));
    CHECK(fs::file_size(path) == 128 + 200 * 300 * 4);
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    CHECK(names_in(dir / ".") == std::vector<std::string>{"a.npy", "link.npy"});
  }
}

TEST_CASE("no other file is written") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  if (my_rank() == 0) {
    std::ofstream(dir / "other") << "another file";
    fs::create_symlink("other", path + ".partial");
  }
  meet();
  auto const b = block_of({5, 3}, 1, -1, 0);
  write<float>(path, {5, 3}, b, false);
  meet();
  if (my_rank() == 0) {
    CHECK(contents(dir / "other") == "another file");
    CHECK(fs::is_symlink(path + ".partial"));
    CHECK(names_in(dir / ".") == std::vector<std::string>{"a.npy", "a.npy.partial", "other"});
    CHECK(contents(path) == file_image<float>({5, 3}, false));
  }
  meet();
  // a failure, too, leaves what another has named so
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const little{1 << 14, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  auto const large = block_of({200, 300}, 1, -1, 0);
  shared_failure([&] { write<float>(path, {200, 300}, large, false); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  meet();
  if (my_rank() == 0) {
    CHECK(names_in(dir / ".") == std::vector<std::string>{"a.npy", "a.npy.partial", "other"});
    CHECK(contents(dir / "other") == "another file");
  }
}

TEST_CASE("a link to a file that does not exist yet is followed") {
  TempDir const dir;
  if (my_rank() == 0) {
    fs::create_directory(dir / "data");
    fs::create_symlink("data/one.npy", dir / "link.npy");
    fs::create_symlink("link.npy", dir / "second.npy");
    fs::create_symlink("round.npy", dir / "round.npy");
  }
  meet();
  auto const b = block_of({5, 3}, 1, -1, 0);
  write<float>(dir / "second.npy", {5, 3}, b, false);
  meet();
  if (my_rank() == 0) {
    CHECK(fs::is_symlink(dir / "second.npy"));
    CHECK(fs::is_symlink(dir / "link.npy"));
    CHECK(names_in(dir / "data") == std::vector<std::string>{"one.npy"});
    CHECK(contents(dir / "data/one.npy") == file_image<float>({5, 3}, false));
  }
  auto const failure = shared_failure([&] { write<float>(dir / "round.npy", {5, 3}, b, false); });
  CHECK(contains(failure, "[shardtype IO8] cannot write " + (dir / "round.npy") + ": Too many"));
}

TEST_CASE("a name may be as long as the system allows") {
  TempDir const dir;
  auto const b = block_of({5, 3}, 1, -1, 0);
  auto const path = dir / (std::string(251, 'n') + ".npy");
  write<float>(path, {5, 3}, b, false);
  meet();
  if (my_rank() == 0) CHECK(contents(path) == file_image<float>({5, 3}, false));
  auto const longer = dir / (std::string(252, 'n') + ".npy");
  CHECK(contains(shared_failure([&] { write<float>(longer, {5, 3}, b, false); }), "too long"));
}

TEST_CASE("a fifo or a socket is an error, and nobody waits for its other end") {
  TempDir const dir;
  auto const fifo = dir / "fifo.npy";
  auto const link = dir / "link.npy";
  auto const at_socket = dir / "socket.npy";
  if (my_rank() == 0) {
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    fs::create_symlink("fifo.npy", link);
    REQUIRE(at_socket.size() < sizeof(sockaddr_un::sun_path));
    int const descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at_socket.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    close(descriptor);
  }
  meet();
  auto const b = block_of({5, 3}, 1, -1, 0);
  for (auto const& path : {fifo, link}) {
    CHECK(shared_failure([&] { io::read_npy_header(MPI_COMM_WORLD, path); }) ==
          "[shardtype IO1] cannot open " + path + ": it is a fifo, not a file");
    CHECK(shared_failure([&] { write<float>(path, {5, 3}, b, false); }) ==
          "[shardtype IO8] cannot write " + path + ": it is a fifo, not a file");
  }
  CHECK(shared_failure([&] { io::read_npy_header(MPI_COMM_WORLD, at_socket); }) ==
        "[shardtype IO1] cannot open " + at_socket + ": it is a socket, not a file");
  CHECK(shared_failure([&] { write<float>(at_socket, {5, 3}, b, false); }) ==
        "[shardtype IO8] cannot write " + at_socket + ": it is a socket, not a file");
  meet();
  if (my_rank() == 0) {
    CHECK(fs::is_fifo(fifo));
    CHECK(names_in(dir / ".") == std::vector<std::string>{"fifo.npy", "link.npy", "socket.npy"});
  }
}

// As two jobs do: the halves of the ranks write another array to the same path at the same time.
TEST_CASE("who saves to the same path at the same time saves whole files") {
  TempDir const dir;
  auto const path = dir / "a.npy";
  int const half = 2 * my_rank() / ranks();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &comm);
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  constexpr std::int64_t rows = 4096;
  std::int64_t const length = rows / size, begin = rank * length;
  Block const b{{begin}, {rank == size - 1 ? rows - begin : length}};
  int mixed = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<float> const data(static_cast<std::size_t>(b.count[0]),
                                  static_cast<float>(1 + 2 * round + half));
    write_npy(comm, path, "<f4", {rows}, b.begin, b.count, sizeof(float), data.data(), true, false,
              alone);
    meet();
    if (my_rank() == 0) {
      std::string const text = contents(path);
      std::vector<float> all(rows);
      REQUIRE(text.size() == 128 + rows * sizeof(float));
      std::memcpy(all.data(), text.data() + 128, rows * sizeof(float));
      for (float const x : all) mixed += x != all[0] ? 1 : 0;
      CHECK((static_cast<int>(all[0]) - 1) / 2 == round);
    }
    meet();
  }
  CHECK(mixed == 0);
  if (my_rank() == 0) CHECK(names_in(dir / ".") == std::vector<std::string>{"a.npy"});
  MPI_Comm_free(&comm);
}

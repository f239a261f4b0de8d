// Headers of NumPy files: those that NumPy writes, those that it also reads, and those that must be
// refused.
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/io/npy_header.hpp>

#include "../harness/catch.hpp"

using namespace shardtype;

namespace {

using Shape = io::NpyInts;

std::string file_start(std::string const& dict, int major = 1, int minor = 0) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += static_cast<char>(minor);
  for (int k = 0; k < (major == 1 ? 2 : 4); ++k)
    out += static_cast<char>(static_cast<unsigned char>(dict.size() >> (8 * k) & 0xff));
  return out + dict;
}

/// The code and text of the error from parsing, or "" if there is none.
std::string said_of(std::string_view bytes) {
  try {
    io::parse_npy_header(bytes, "A.npy");
  } catch (Error const& error) {
    CHECK(error.where() == FailedOn::this_rank);
    return error.what();
  }
  return {};
}

std::string said_of_dict(std::string const& dict) { return said_of(file_start(dict)); }

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("a header is written as NumPy writes it") {
  std::string const expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" +
                               std::string(58, ' ') + "\n";
  CHECK(io::format_npy_header("<f4", Shape{3, 4}) == expected);
  CHECK(contains(io::format_npy_header("<f8", Shape{7}, true),
                 "{'descr': '<f8', 'fortran_order': True, 'shape': (7,), }"));
  CHECK(contains(io::format_npy_header("<c16", Shape{}), "'shape': (), }"));
  CHECK(contains(io::format_npy_header("<i8", Shape{1, 2, 3}), "'shape': (1, 2, 3), }"));
}

TEST_CASE("what is written is read back") {
  for (auto const& shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 4}, Shape{5000000000, 2, 0, 1},
                            Shape(32, 1), Shape{1LL << 40}})
    for (bool const fortran : {false, true}) {
      auto const text = io::format_npy_header("<f4", shape, fortran);
      CHECK(text.size() % 64 == 0);
      CHECK(text.back() == '\n');
      auto const header = io::parse_npy_header(text + "data", "A.npy");
      CHECK(header == io::NpyHeader{"<f4", fortran, shape, static_cast<std::int64_t>(text.size())});
      CHECK(io::npy_header_bytes(text.substr(0, 12)) == static_cast<std::int64_t>(text.size()));
    }
}

TEST_CASE("a header too long for version 1.0 is written as 2.0") {
  Shape const shape(30000, 1);
  auto const text = io::format_npy_header("<i4", shape);
  CHECK(text[6] == 2);
  CHECK(text.size() % 64 == 0);
  CHECK(io::parse_npy_header(text, "A.npy").shape == shape);
}

TEST_CASE("any order of keys, spacing, quotes and version is read") {
  std::string const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
  for (int const major : {1, 2, 3}) {
    auto const header = io::parse_npy_header(file_start(dict, major), "A.npy");
    CHECK(header == io::NpyHeader{"<f4", false, {3, 4}, (major == 1 ? 10 : 12) + 60});
  }
  auto const parsed = [](std::string const& text) {
    return io::parse_npy_header(file_start(text), "A.npy");
  };
  CHECK(parsed("{\"shape\":(3,),\"fortran_order\":True,\"descr\":\"|i4\"}").shape == Shape{3});
  CHECK(
      parsed("  { 'shape' : ( 3 , 4 ) ,'descr' :'=f8', 'fortran_order': True}  \n").fortran_order);
  CHECK(parsed("{'shape': (3L, 4L), 'descr': '<f8', 'fortran_order': True}").shape == Shape{3, 4});
  CHECK(
      contains(said_of(file_start("{'shape': (3L, 4L), 'descr': '<f8', 'fortran_order': True}", 3)),
               "without a comma"));  // version 3 is younger than Python 3
  CHECK(parsed("{'shape': (), 'descr': '<f8', 'fortran_order': True}").shape.empty());
  CHECK(parsed("{'shape': (2,3,), 'descr': 'f8', 'fortran_order': True}").shape == Shape{2, 3});
}

TEST_CASE("what is no header is refused with the file's name and a reason") {
  std::string const good =
      file_start("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n");
  REQUIRE(said_of(good).empty());

  CHECK(said_of("") ==
        "[shardtype IO2] A.npy is not a .npy file: it does not begin with \\x93NUMPY");
  CHECK(contains(said_of("PK\x03\x04 a zip file"), "IO2"));
  for (std::size_t n = 6; n < good.size(); ++n)
    CHECK(said_of(good.substr(0, n)) == "[shardtype IO3] A.npy ends within its header");

  auto version = good;
  version[6] = 4;
  CHECK(said_of(version) ==
        "[shardtype IO3] A.npy has .npy format version 4.0; known are 1.0, 2.0 and 3.0");
  version[6] = 1;
  version[7] = 9;
  CHECK(contains(said_of(version), "version 1.9"));
  CHECK(
      contains(said_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "4294967307 bytes"));
}

TEST_CASE("malformed dictionaries are refused") {
  auto const says = [](std::string const& dict, std::string_view part) {
    auto const text = said_of_dict(dict);
    INFO(dict << " -> " << text);
    CHECK(contains(text, "[shardtype IO3] A.npy"));
    CHECK(contains(text, part));
  };
  std::string const d = "'descr': '<f4', ", f = "'fortran_order': False, ", s = "'shape': (3,), ";
  says("", "lacks a '{'");
  says("{", "lacks a quoted text");
  says("{" + d + f + s, "lacks a quoted text");
  says("{" + d + f + "}", "lacks the key 'shape'");
  says("{" + f + s + "}", "lacks the key 'descr'");
  says("{" + d + s + "}", "lacks the key 'fortran_order'");
  says("{" + d + d + f + s + "}", "the key 'descr' twice");
  says("{" + d + f + s + "'x': 1}", "unknown key 'x'");
  says("{" + d + f + s + "} 7", "goes on after its '}'");
  says("{" + d + "'fortran_order': false, " + s + "}", "neither True nor False");
  says("{" + d + f + "'shape': 3}", "not a tuple");
  says("{" + d + f + "'shape': (3)}", "not a tuple");
  says("{" + d + f + "'shape': (3 4)}", "without a comma");
  says("{" + d + f + "'shape': (-3,)}", "whole numbers");
  says("{" + d + f + "'shape': (03,)}", "whole numbers");
  says("{" + d + f + "'shape': (9223372036854775808,)}", "whole numbers");
  says("{" + d + f + "\v" + s + "}", "lacks a quoted text (byte 51)");  // no space of Python's
  says("{" + d + f + "\n" + s + "}", "lacks a quoted text");
  says("{" + d + f + "'shape': (3.5,)}", "without a comma");
  says("{" + d + f + "'shape': (99999999999999999999,)}", "whole numbers");
  says("{" + d + f + "'shape': (9999999999,9999999999)}", "more bytes than a file can hold");
  says("{'descr': '<f4, " + f + s + "}", "lacks a '");
  says("{'descr': 'f4", "open quote");
  says("{'descr': '', " + f + s + "}", "empty dtype");
}

TEST_CASE("dtypes that no tensor has are refused by name") {
  auto const dict = [](std::string const& descr) {
    return said_of_dict("{'descr': " + descr + ", 'fortran_order': False, 'shape': (3,), }");
  };
  CHECK(contains(dict("[('a', '<f4'), ('b', '<i4')]"), "IO3"));
  CHECK(contains(dict("[('a', '<f4'), ('b', '<i4')]"), "structured dtype"));
  CHECK(contains(dict("'|O'"), "dtype object (pickled Python objects)"));
  CHECK(contains(dict("'>f8'"), "the big-endian dtype '>f8'; convert it with a.astype('<f8')"));
}

TEST_CASE("dtypes have names, sizes and an element type") {
  CHECK(io::npy_dtype<float>() == "<f4");
  CHECK(io::npy_dtype<double>() == "<f8");
  CHECK(io::npy_dtype<std::int32_t>() == "<i4");
  CHECK(io::npy_dtype<std::int64_t>() == "<i8");
  CHECK(io::npy_dtype<std::complex<float>>() == "<c8");
  CHECK(io::npy_dtype<std::complex<double>>() == "<c16");
  CHECK(io::npy_dtype_name("<c16") == "complex128");
  CHECK(io::npy_dtype_name("|b1") == "bool");
  CHECK(io::npy_dtype_name("|u1") == "uint8");
  CHECK(io::npy_dtype_name("<M8[ns]") == "'<M8[ns]'");
  CHECK(io::npy_item_bytes("<c16") == 16);
  CHECK(io::npy_item_bytes("<U7") == 28);
  CHECK(io::npy_item_bytes("?") == 0);
  CHECK(io::npy_data_bytes(Shape{}, 8) == 8);
  CHECK(io::npy_data_bytes(Shape{0, 1LL << 62, 1LL << 62}, 8) == 0);
  CHECK(io::npy_data_bytes(Shape{1LL << 62, 2}, 8) == -1);
}

TEST_CASE("a file is compared with what the tensor wants") {
  io::NpyHeader const header{"=f8", false, {3, 4}, 128};
  check_npy(header, "A.npy", "<f8", 2);
  try {
    check_npy(header, "A.npy", "<f4", 2);
    FAIL("no error");
  } catch (Error const& error) {
    CHECK(error.where() == FailedOn::every_rank);
    CHECK(error.what() == std::string("[shardtype IO4] A.npy holds float64, the tensor wants "
                                      "float32; cast it (a.astype('<f4')) or load it into a tensor "
                                      "of float64"));
  }
  try {
    check_npy(header, "A.npy", "<f8", 3);
    FAIL("no error");
  } catch (Error const& error) {
    CHECK(error.what() ==
          std::string("[shardtype IO5] A.npy has 2 dimensions, shape (3, 4), the tensor has 3"));
  }
}

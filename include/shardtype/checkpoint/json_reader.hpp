#pragma once
/// Reads JSON whose form is known, from bytes that nobody has checked.

#include <string>
#include <string_view>

#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/byte_reader.hpp>

namespace shardtype::checkpoint::detail {

/// The caller asks for what must come next, so a file's nesting costs neither memory nor stack.
/// After a mistake (`good`) lists and objects have no more members. Stricter than JSON in names of
/// members, which only the caller can tell to be there twice, and in numbers. Source: RFC 8259.
class JsonReader : public io::ByteReader {
 public:
  using io::ByteReader::ByteReader;

  /// The first character of the next value; 0 at the end.
  char next() {
    skip_any(" \t\n\r");
    return rest().empty() ? '\0' : rest()[0];
  }
  /// Calls `member(name)` for each member of an object, to read its value.
  template <class Member>
  void object(Member const& member) {
    each('{', '}', [&] {
      std::string const name = text();
      next();
      if (want(':') && good()) member(name);
    });
  }
  /// Calls `element()` for each element of an array, to read it.
  template <class Element>
  void array(Element const& element) {
    each('[', ']', element);
  }
  std::string text();
  std::uint64_t natural() {
    next();
    return ByteReader::natural();
  }
  std::int64_t count() {
    next();
    return ByteReader::small_natural();
  }
  /// A number's characters.
  std::string_view number();
  /// Only spaces follow.
  void end() {
    if (next() != '\0' || !rest().empty()) fail("goes on after its end");
  }

 private:
  template <class One>
  void each(char open, char close, One const& one) {
    next();
    if (!want(open)) return;
    if (next() == close) {
      take(close);
      return;
    }
    for (;;) {
      next();
      one();
      next();
      if (!take(',')) break;
    }
    want(close);
  }
  void escape(std::string& out);
  unsigned half();
};

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/json_reader.ipp>
#endif

#pragma once
/// Definitions of text.hpp.

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <shardtype/freeze/text.hpp>

namespace shardtype::freeze {

SHARDTYPE_INLINE std::string bracketed(std::string const& text, Binding binding, Binding least) {
  return binding < least ? "(" + text + ")" : text;
}

SHARDTYPE_INLINE std::string number_text(double value, bool single) {
  std::string const suffix = single ? "F" : "";
  std::string const type = single ? "float" : "double";
  if (std::isnan(value)) return "std::numeric_limits<" + type + ">::quiet_NaN()";
  if (std::isinf(value))
    return (value < 0 ? "-" : "") + ("std::numeric_limits<" + type) + ">::infinity()";
  std::array<char, 64> out{};
  std::to_chars_result const end =
      single ? std::to_chars(out.data(), out.data() + out.size(), static_cast<float>(value))
             : std::to_chars(out.data(), out.data() + out.size(), value);
  std::string text(out.data(), end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}
SHARDTYPE_INLINE std::string whole_number_text(long long value, std::string_view suffix) {
  return std::to_string(value) + std::string(suffix);
}

namespace detail {

/// The type in what a compiler says of `compiler_name<T>`.
inline std::string type_in(std::string_view said) {
  std::size_t const at = said.find("T = ");
  if (at == std::string_view::npos) return {};
  std::size_t const begin = at + 4;
  int depth = 0;
  std::size_t end = begin;
  for (; end < said.size(); ++end) {
    char const c = said[end];
    if (depth == 0 && (c == ';' || c == ']')) break;
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
  }
  return std::string(said.substr(begin, end - begin));
}
inline void remove_all(std::string& from, std::string_view what) {
  for (std::size_t at = from.find(what); at != std::string::npos; at = from.find(what))
    from.erase(at, what.size());
}
/// Removes the functions in which types are declared: `main()::S` is `S` there.
inline void remove_functions(std::string& from) {
  for (std::size_t at = from.find(")::"); at != std::string::npos; at = from.find(")::")) {
    int depth = 1;
    std::size_t begin = at;
    while (begin > 0 && depth > 0) {
      --begin;
      depth += from[begin] == ')' ? 1 : from[begin] == '(' ? -1 : 0;
    }
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(from[begin - 1])) != 0 ||
                         from[begin - 1] == '_' || from[begin - 1] == ':'))
      --begin;
    from.erase(begin, at + 3 - begin);
  }
}

/// The name of the integer type of `words` such as `long unsigned int`, by its size: compilers
/// write the words differently.
inline std::string integer_name(std::string_view words) {
  auto const has = [&](std::string_view word) {
    return words.find(word) != std::string_view::npos;
  };
  if (has("double")) return std::string(words);
  std::string const sign = has("unsigned") ? "u" : "";
  std::size_t const at = words.find("long");
  if (at != std::string_view::npos && words.find("long", at + 4) != std::string_view::npos) {
    // the type that std::int64_t is not
    if (!std::is_same_v<long long, std::int64_t>)
      return has("unsigned") ? "unsigned long long" : "long long";
    return "std::" + sign + "int64_t";
  }
  if (at != std::string_view::npos) {
    if (std::is_same_v<long, std::int64_t>) return "std::" + sign + "int64_t";
    return has("unsigned") ? "unsigned long" : "long";
  }
  if (has("short")) return "std::" + sign + "int16_t";
  if (has("char")) return has("signed") ? "std::" + sign + "int8_t" : "char";
  return "std::" + sign + "int32_t";
}
/// Writes all integer types by these names.
inline void name_integers(std::string& text) {
  constexpr std::string_view words[] = {"unsigned", "signed", "long",  "short",
                                        "int",      "char",   "double"};
  auto const is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  };
  // the end of the word of an integer type at `at`, or `at`
  auto const end_of_word = [&](std::size_t at) {
    for (std::string_view const word : words)
      if (std::string_view(text).substr(at).starts_with(word) &&
          (at + word.size() == text.size() || !is_letter(text[at + word.size()])))
        return at + word.size();
    return at;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_letter(text[at])) continue;
    std::size_t end = end_of_word(at);
    if (end == at) {
      while (at < text.size() && is_letter(text[at])) ++at;
      continue;
    }
    while (end + 1 < text.size() && text[end] == ' ' && end_of_word(end + 1) > end + 1)
      end = end_of_word(end + 1);
    std::string const name = detail::integer_name(std::string_view(text).substr(at, end - at));
    text.replace(at, end - at, name);
    at += name.size();
  }
}

}  // namespace detail

SHARDTYPE_INLINE std::string spelled(std::string_view type) {
  std::string out = detail::type_in(type);
  for (std::string_view const none : {"lambda", "unnamed", "anonymous class"})
    if (out.find(none) != std::string::npos) return {};
  detail::remove_all(out, "{anonymous}::");
  detail::remove_all(out, "(anonymous namespace)::");
  detail::remove_functions(out);
  detail::remove_all(out, "shardtype::");
  for (std::size_t at = out.find(" >"); at != std::string::npos; at = out.find(" >"))
    out.erase(at, 1);
  detail::name_integers(out);
  return out;
}

SHARDTYPE_INLINE std::string const& FunctionNames::parameter(core::Identity type,
                                                             std::string_view type_name,
                                                             void const* state, std::size_t bytes,
                                                             int part) {
  std::string kept(bytes, '\0');
  if (state != nullptr) std::memcpy(kept.data(), state, bytes);
  for (Known const& k : all_)
    if (k.id == type && k.state == kept && k.part == part) return k.name;
  std::string const known = freeze::spelled(type_name);
  return all_
      .push_back({type, kept, part, "fn" + std::to_string(all_.size() + 1),
                  known.empty() ? "a function without a name" : known})
      .name;
}

SHARDTYPE_INLINE ArgumentText called(FunctionForm const& form,
                                     shardtype::detail::List<ArgumentText> const& args) {
  std::string const name(form.text);
  auto const in = [&](std::size_t k, Binding least) {
    return freeze::bracketed(args[k].text, args[k].binding, least);
  };
  switch (form.kind) {
    case FunctionForm::Kind::infix: {
      // operators are grouped as they are computed, from left to right
      auto const tighter = static_cast<Binding>(static_cast<int>(form.binding) + 1);
      return {in(0, form.binding) + " " + name + " " + in(1, tighter), form.binding};
    }
    case FunctionForm::Kind::prefix:
      return {name + in(0, Binding::whole), form.binding};
    default:
      break;
  }
  std::string out = name + "(";
  for (std::size_t k = 0; k < args.size(); ++k) out += (k > 0 ? ", " : "") + args[k].text;
  return {out + ")", Binding::whole};
}

}  // namespace shardtype::freeze

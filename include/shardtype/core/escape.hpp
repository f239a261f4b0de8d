#pragma once
/// Texts and numbers in JSON and HTML.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/namespaces.hpp>

namespace shardtype::detail {

/// `"text"` for JSON, with special characters escaped.
std::string json_text(std::string_view text);
/// A number for JSON; null for infinity and NaN; with a decimal point in every locale.
std::string json_number(double x);
inline std::string json_number(std::int64_t n) { return std::to_string(n); }

/// Text for HTML and XML, also in attributes. Characters that XML cannot represent become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/core/escape.ipp>
#endif

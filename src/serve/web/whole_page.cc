#include "serve/web/whole_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "base/check.h"
#include "base/hash.h"
#include "serve/web/page_files.h"

namespace tritonsmith::serve::web {
namespace {

// Takes the tags before/NAME/after, with the end of their line, out of the page. Returns the bytes of
// the files that they name, in order.
std::string take_files(std::string& html, std::string_view before, std::string_view after) {
  std::string all;
  for (std::size_t at = html.find(before); at != std::string::npos; at = html.find(before, at)) {
    const std::size_t name = at + before.size(), end = html.find(after, name);
    CHECK(end != std::string::npos, "a tag of the page has another form: {}", before);
    all += page_file(std::string_view(html).substr(name, end - name));
    at = html.rfind('\n', at) + 1;  // where its line begins
    html.erase(at, html.find('\n', end) + 1 - at);
  }
  return all;
}

void put_before(std::string& html, std::string_view tag, std::string_view text) {
  const std::size_t at = html.find(tag);
  CHECK(at != std::string::npos, "the page has no {}", tag);
  html.insert(at, text);
}

std::string hash_source(std::string_view text) {
  const Digest digest = sha256(text);
  return fmt::format("'sha256-{}'",
                     base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()}));
}

WholePage make_page() {
  std::string html(page_file("index.html"));
  const std::string style = take_files(html, "<link rel=\"stylesheet\" href=\"/", "\">");
  const std::string script = take_files(html, "<script src=\"/", "\" defer></script>");
  put_before(html, "</head>", "<style>" + style + "</style>\n");
  put_before(html, "</body>", "<script>" + script + "</script>\n");
  return {.html = std::move(html),
          .policy = fmt::format("default-src 'self'; script-src {}; style-src {}; "
                                "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
                                "form-action 'none'",
                                hash_source(script), hash_source(style))};
}

}  // namespace

const WholePage& whole_page() {
  static const WholePage page = make_page();
  return page;
}

}  // namespace tritonsmith::serve::web
